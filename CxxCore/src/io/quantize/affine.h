// Affine quantisation of rows as MLX defines it: w is about q * scale + bias, with one scale and bias per group of
// columns.
#pragma once

#include <cstdint>
#include <span>

namespace pagoda::io {

// One group. `q` receives integers from 0 to 2^bits - 1. The bias is the end of the range farther from zero, and the
// scale is chosen so that zero is exactly representable: many weights are zero or near it. Input must be finite.
struct AffineGroup {
  float scale = 0, bias = 0;
};
AffineGroup quantize_group(std::span<const float> w, int bits, uint8_t* q) noexcept;

// One row: columns is a multiple of group_size, which is a multiple of 32. words: columns * bits / 32, the first column
// in the lowest bits. groups: columns / group_size.
void quantize_row(std::span<const float> w, int bits, int group_size, uint32_t* words, AffineGroup* groups) noexcept;

}  // namespace pagoda::io
