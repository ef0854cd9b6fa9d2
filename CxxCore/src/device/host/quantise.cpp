// Quantises one row at a time.
#include "device/host/quantise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace pagoda::device::host {
namespace {

struct Range {
  float low = 0.0f, high = 0.0f;
};

Range range_of(std::span<const float> values) noexcept {
  float low = values[0], high = values[0];
  for (float v : values) {
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  return {low, high};
}

bool all_finite(std::span<const float> row) noexcept {
  float sum = 0.0f;  // x * 0 is NaN if x is infinite or NaN, else 0
  for (float v : row) sum += v * 0.0f;
  return sum == 0.0f;
}

// Rounds to nearest even by adding 1.5 * 2^23; unlike lrintf(), this needs no call and vectorises.
int nearest(float value, int low, int high) noexcept {
  const float limited = std::min(std::max(value, static_cast<float>(low)), static_cast<float>(high));
  return std::bit_cast<int32_t>(limited + 0x1.8p23f) - 0x4b400000;
}

std::span<const float> group_of(std::span<const float> row, size_t begin, int64_t size) noexcept {
  return row.subspan(begin, std::min(static_cast<size_t>(size), row.size() - begin));
}

constexpr int kMaxShift = 15;

}  // namespace

void rotate(std::span<float> row, int64_t block) noexcept {
  const size_t size = static_cast<size_t>(block);
  for (size_t begin = 0; begin < row.size(); begin += size)
    for (size_t stride = 1; stride < size; stride *= 2)
      for (size_t i = begin; i < begin + size; ++i) {
        if ((i & stride) != 0) continue;
        const float a = row[i], b = row[i + stride];
        row[i] = a + b;
        row[i + stride] = a - b;
      }
}

bool quantise_8bit(std::span<const float> row, int8_t* values, float& scale) noexcept {
  if (!all_finite(row)) return false;
  const Range range = range_of(row);
  scale = std::max(range.high, -range.low) / 127.0f;
  if (scale < 0x1p-126f) scale = 0.0f;  // its reciprocal would be infinite
  const float inverse = scale > 0.0f ? 1.0f / scale : 0.0f;
  for (float v : row) *values++ = static_cast<int8_t>(nearest(v * inverse, -127, 127));
  return true;
}

bool quantise_8bit_groups(std::span<const float> row, int8_t* values, uint8_t* shifts, float& row_scale) noexcept {
  if (!all_finite(row)) return false;
  const Range range = range_of(row);
  const float most = std::max(range.high, -range.low);
  row_scale = most / 127.0f >= 0x1p-110f ? most / 127.0f : 0.0f;  // the reciprocal of a shifted scale stays finite
  for (size_t begin = 0; begin < row.size(); begin += kStepGroup) {
    const std::span<const float> group = group_of(row, begin, kStepGroup);
    const Range own = range_of(group);
    float unit = 1.0f;  // 2^shift
    int shift = 0;
    for (const float m = std::max(own.high, -own.low); shift < kMaxShift && m * unit * 2 <= most; ++shift) unit *= 2;
    *shifts++ = static_cast<uint8_t>(shift);
    const float inverse = row_scale > 0.0f ? unit / row_scale : 0.0f;
    for (float v : group) *values++ = static_cast<int8_t>(nearest(v * inverse, -127, 127));
  }
  return true;
}

bool quantise_4bit(std::span<const float> row, uint8_t* values, Steps* steps, float& row_scale) noexcept {
  if (!all_finite(row)) return false;
  float scale = 0.0f;  // the finest grid on which every group has a valid step and offset
  for (size_t begin = 0; begin < row.size(); begin += kStepGroup) {
    const Range range = range_of(group_of(row, begin, kStepGroup));
    scale = std::max({scale, (range.high - range.low) / (15 * 17.0f), -range.low / 128, range.high / 127});
  }
  row_scale = scale = scale >= 0x1p-126f ? scale : 1.0f;
  const float inverse = 1.0f / scale;
  for (size_t begin = 0; begin < row.size(); begin += kStepGroup, ++steps) {
    const std::span<const float> group = group_of(row, begin, kStepGroup);
    const Range range = range_of(group);
    // A step up to 0.25 too short clips a few extremes and represents all other values more finely.
    const int step = std::clamp(static_cast<int>(std::ceil((range.high - range.low) * inverse / 15 - 0.25f)), 1, 17);
    const float middle = (range.low + range.high) / 2 * inverse;
    const int offset = nearest(128 + middle - 7.5f * static_cast<float>(step), 0, 255 - 15 * step);
    *steps = {static_cast<uint8_t>(step), static_cast<uint8_t>(offset)};
    const float per_step = inverse / static_cast<float>(step),
                base = static_cast<float>(offset - 128) / static_cast<float>(step);
    for (float v : group) *values++ = static_cast<uint8_t>(nearest(v * per_step - base, 0, 15));
  }
  return true;
}

bool round_in_groups(WeightFormat format, std::span<float> row) {
  float scale;
  const size_t groups = (row.size() + kStepGroup - 1) / kStepGroup;
  if (format == WeightFormat::q8) {
    std::vector<int8_t> values(row.size());
    std::vector<uint8_t> shifts(groups);
    if (!quantise_8bit_groups(row, values.data(), shifts.data(), scale)) return false;
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = std::ldexp(static_cast<float>(values[i]), -shifts[i / kStepGroup]) * scale;
    return true;
  }
  std::vector<uint8_t> values(row.size());
  std::vector<Steps> steps(groups);
  if (!quantise_4bit(row, values.data(), steps.data(), scale)) return false;
  for (size_t i = 0; i < row.size(); ++i) {
    const Steps s = steps[i / kStepGroup];
    row[i] = static_cast<float>(s.step * values[i] + s.offset - 128) * scale;
  }
  return true;
}

}  // namespace pagoda::device::host
