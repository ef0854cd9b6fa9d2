// Arguments of the kernels that multiply weights in the formats of files, and the layout of their data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/quant/quant_format.h"

namespace pagoda::device::cpu {

// A row of activations for these weights: int8 [padded K] with a scale per kRowGroup columns, not rotated, because the
// weights are not. One buffer: values, scales f32 [padded K / 32], sums of values int32 [padded K / 16].
constexpr int64_t kRowGroup = 32, kSumGroup = 16;
struct GroupedRow {
  std::byte* values;
  float* scales;
  int32_t* sums;
};
constexpr int64_t grouped_scales_at(int64_t padded) noexcept { return padded; }
constexpr int64_t grouped_sums_at(int64_t padded) noexcept { return padded + padded / kRowGroup * 4; }
constexpr int64_t grouped_row_bytes(int64_t padded) noexcept {
  return grouped_sums_at(padded) + padded / kSumGroup * 4;
}

// Bytes of the codes of 16 channels x 32 columns: a plane of nibbles (4 to 6 bits) or bytes, one of pairs of bits
// (2, 3 and 6 bits), and one of single bits (3 and 5 bits). A plane consists of lines of 16 channels x 4 columns; see
// unpack_lines() in kernels/stored.h.
constexpr int64_t chunk_bytes(const QuantFormat& f) noexcept { return 64 * f.bits; }

// Bytes of the scales of 16 channels: [K / group] of 16 scales and, if there are any, 16 minima; then [K / super] of 16
// upper scales and 16 upper minima.
constexpr int64_t group_bytes(const QuantFormat& f) noexcept {
  return 16 * (f.scale_bytes() + (f.scale != ScaleType::nibbles ? f.min_bytes() : 0));
}
constexpr int64_t super_bytes(const QuantFormat& f) noexcept { return f.super > 0 ? 32 * (f.has_min ? 2 : 1) : 0; }
constexpr int64_t block_scale_bytes(const QuantFormat& f, int64_t cols) noexcept {
  return cols / f.group * group_bytes(f) + (f.super > 0 ? cols / f.super * super_bytes(f) : 0);
}

// Rows times blocks of 16 channels. Per 32 columns: the exact integer sum of values and codes of the (first) group,
// times the group's scale; then, each added with one rounding, the group's minimum times the sum of the values, and the
// same two for a second group of 16. This, times the row's scale, is added to the result with one rounding. The bits
// are the same for any number of rows and on every machine.
struct StoredTile {
  const QuantFormat* format;
  const std::byte *codes, *scales;  // first block
  int64_t code_bytes, scale_bytes;  // per block
  int64_t cols;
  const std::byte* x;  // [m][x_stride bytes], as GroupedRow
  int64_t x_stride, padded;
  int64_t m, blocks;
  const float* bias;  // [n] or null
  float* out;
  int64_t out_stride, n;  // n: channels that exist; the rest of the last block is padding
  std::byte* scratch;     // kPackedScratch bytes
};

}  // namespace pagoda::device::cpu
