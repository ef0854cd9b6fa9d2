// Bicubic resampling in fixed point, one axis at a time.
#include "image/resample.h"

#include <algorithm>
#include <cmath>

namespace pagoda::image {
namespace {

constexpr double kCubic = -0.5;    // the parameter a of the cubic kernel
constexpr double kSupport = 2.0;   // it is zero beyond this many input pixels, or output pixels when reducing
constexpr int kFractionBits = 22;  // of a weight: 8 bits for the value and 2 for sign and overshoot are left
constexpr int32_t kHalf = 1 << (kFractionBits - 1);

// The input pixels that make up one output pixel.
struct Tap {
  int32_t first = 0, count = 0;
  size_t first_weight = 0;
};

struct Taps {
  std::vector<Tap> taps;  // one per output pixel
  std::vector<int32_t> weights;
};

double cubic(double x) noexcept {
  x = std::abs(x);
  if (x < 1.0) return ((kCubic + 2.0) * x - (kCubic + 3.0)) * x * x + 1.0;
  if (x < kSupport) return (((x - 5.0) * x + 8.0) * x - 4.0) * kCubic;
  return 0.0;
}

int32_t fixed_point(double weight) noexcept {
  return static_cast<int32_t>(weight * (1 << kFractionBits) + (weight < 0 ? -0.5 : 0.5));
}

// When reducing, the kernel widens with the scale, which is the antialiasing.
Taps make_taps(int32_t from, int32_t to) {
  const double scale = static_cast<double>(from) / to, width = std::max(scale, 1.0), support = kSupport * width;
  Taps result;
  result.taps.reserve(static_cast<size_t>(to));
  std::vector<double> weights;
  for (int32_t i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int32_t first = std::max(0, static_cast<int32_t>(center - support + 0.5));
    const int32_t end = std::min(from, static_cast<int32_t>(center + support + 0.5));
    weights.clear();
    double sum = 0;
    for (int32_t x = first; x < end; ++x) {
      weights.push_back(cubic((x - center + 0.5) * (1.0 / width)));
      sum += weights.back();
    }
    result.taps.push_back({first, end - first, result.weights.size()});
    for (const double weight : weights) result.weights.push_back(fixed_point(sum != 0 ? weight / sum : weight));
  }
  return result;
}

uint8_t to_byte(int32_t sum) noexcept { return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255)); }

// [rows][from][3] to [rows][to][3].
std::vector<uint8_t> resample_columns(std::span<const uint8_t> in, int32_t rows, int32_t from, int32_t to) {
  const Taps taps = make_taps(from, to);
  std::vector<uint8_t> out(static_cast<size_t>(rows) * static_cast<size_t>(to) * 3);
  uint8_t* pixel = out.data();
  for (int32_t y = 0; y < rows; ++y) {
    const uint8_t* row = in.data() + static_cast<size_t>(y) * static_cast<size_t>(from) * 3;
    for (const Tap& tap : taps.taps) {
      int32_t sums[3] = {kHalf, kHalf, kHalf};
      for (int32_t i = 0; i < tap.count; ++i) {
        const int32_t weight = taps.weights[tap.first_weight + static_cast<size_t>(i)];
        for (int c = 0; c < 3; ++c) sums[c] += row[(tap.first + i) * 3 + c] * weight;
      }
      for (const int32_t sum : sums) *pixel++ = to_byte(sum);
    }
  }
  return out;
}

// [from][row_bytes] to [to][row_bytes].
std::vector<uint8_t> resample_rows(std::span<const uint8_t> in, size_t row_bytes, int32_t from, int32_t to) {
  const Taps taps = make_taps(from, to);
  std::vector<uint8_t> out(row_bytes * static_cast<size_t>(to));
  std::vector<int32_t> sums(row_bytes);
  uint8_t* row = out.data();
  for (const Tap& tap : taps.taps) {
    std::ranges::fill(sums, kHalf);
    for (int32_t i = 0; i < tap.count; ++i) {
      const int32_t weight = taps.weights[tap.first_weight + static_cast<size_t>(i)];
      const uint8_t* source = in.data() + static_cast<size_t>(tap.first + i) * row_bytes;
      for (size_t x = 0; x < row_bytes; ++x) sums[x] += source[x] * weight;
    }
    for (size_t x = 0; x < row_bytes; ++x) row[x] = to_byte(sums[x]);
    row += row_bytes;
  }
  return out;
}

}  // namespace

std::vector<uint8_t> resample(std::span<const uint8_t> rgb, Size from, Size to) {
  std::vector<uint8_t> pixels;
  if (from.width != to.width) {
    pixels = resample_columns(rgb, from.height, from.width, to.width);
    rgb = pixels;
  }
  if (from.height != to.height) return resample_rows(rgb, static_cast<size_t>(to.width) * 3, from.height, to.height);
  if (pixels.empty()) pixels.assign(rgb.begin(), rgb.end());
  return pixels;
}

}  // namespace pagoda::image
