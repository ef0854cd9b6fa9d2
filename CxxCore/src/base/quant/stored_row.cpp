// Layout of rows between readers and devices, and the numbers they represent.
#include "base/quant/stored_row.h"

#include <bit>
#include <cstring>

#include "base/dtype.h"

#pragma clang fp contract(off)

namespace pagoda {
namespace {

float half(const std::byte* at, int64_t index) noexcept {
  uint16_t bits;
  std::memcpy(&bits, at + index * 2, 2);
  return f16_to_f32(bits);
}

float one_level(ScaleType type, const std::byte* at, int64_t index) noexcept {
  if (type == ScaleType::f16) return half(at, index);
  if (type == ScaleType::f32) {
    float value;
    std::memcpy(&value, at + index * 4, 4);
    return value;
  }
  if (type == ScaleType::e8m0) {
    const auto e = std::to_integer<uint32_t>(at[index]);
    return std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
  }
  if (type == ScaleType::e4m3) return 0.5f * f8_e4m3_to_f32(std::to_integer<uint8_t>(at[index]));
  uint16_t bits;
  std::memcpy(&bits, at + index * 2, 2);
  return bf16_to_f32(bits);
}

float byte_scale(ScaleType type, std::byte at) noexcept {
  const int value = std::to_integer<int>(at);
  return static_cast<float>(type == ScaleType::i8 ? static_cast<int8_t>(value) : value);
}

}  // namespace

size_t stored_row_bytes(const QuantFormat& f, int64_t cols) noexcept {
  const int64_t numbers = f.has_min ? 2 : 1, groups = cols / f.group, supers = f.super > 0 ? cols / f.super : 0;
  return static_cast<size_t>(cols + groups * (f.scale_bytes() + f.min_bytes()) + numbers * supers * 2);
}

StoredRow stored_row(const QuantFormat& f, int64_t cols, std::byte* buffer) noexcept {
  const int64_t groups = cols / f.group, supers = f.super > 0 ? cols / f.super * 2 : 0;
  StoredRow row{};
  row.codes = reinterpret_cast<uint8_t*>(buffer);
  row.scales = buffer + cols;
  row.mins = row.scales + groups * f.scale_bytes();
  row.supers = row.mins + groups * f.min_bytes();
  row.super_mins = row.supers + supers;
  return row;
}

GroupScales group_scales(const QuantFormat& f, const StoredRow& row, int64_t group) noexcept {
  if (f.has_zeros) {
    const float scale = one_level(f.scale, row.scales, group);
    return {scale, -(scale * static_cast<float>(std::to_integer<int>(row.mins[group])))};
  }
  if (f.super == 0)
    return {one_level(f.scale, row.scales, group), f.has_min ? one_level(f.scale, row.mins, group) : 0.0f};
  const int64_t super = group * f.group / f.super;
  return {half(row.supers, super) * byte_scale(f.scale, row.scales[group]),
          f.has_min ? -(half(row.super_mins, super) * byte_scale(f.scale, row.mins[group])) : 0.0f};
}

void dequantise(const QuantFormat& f, const StoredRow& row, int64_t cols, float* to) noexcept {
  const uint8_t* table = f.table == CodeTable::curve ? kCurve : f.table == CodeTable::float4 ? kFloat4 : nullptr;
  for (int64_t group = 0; group < cols / f.group; ++group) {
    const GroupScales s = group_scales(f, row, group);
    for (int64_t i = group * f.group; i < (group + 1) * f.group; ++i) {
      const int value = table != nullptr ? table[row.codes[i] & 15] : row.codes[i];
      const float product =
          s.scale * (f.table == CodeTable::float8 ? f8_e4m3_to_f32(row.codes[i]) : static_cast<float>(value - f.zero));
      to[i] = f.has_min ? product + s.min : product;
    }
  }
}

}  // namespace pagoda
