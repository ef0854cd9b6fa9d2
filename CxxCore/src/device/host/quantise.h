// Quantised rows: the values of 8-bit and 4-bit weights, independent of the memory layout a device uses.
//
// CPU: a row is first rotated (multiplied by a Hadamard matrix per block of columns), and so are the activations it is
// multiplied with: products are unchanged, but outliers are spread over their block. One scale per row then suffices on
// both sides, and a dot product is one integer sum: exact in any order, with no float work in the inner loop.
// Rejected: a scale per 128 columns without rotation. Error of a product at K = 1024, plain / outliers in x /
// heavy-tailed weights as well: 0.93 / 2.22 / 2.30 % against 1.11 / 1.07 / 1.00 %, at two thirds of the speed. Min-max
// quantisation: one pass, no calibration data, the same result on every machine.
//
// GPU: rows are not rotated. Activations stay 16-bit floats there, so only the weights' own outliers matter; a shift
// per group of 32 columns (8 bits), or the step and offset (4 bits), confine them to their group. Error of a product
// with the weights of SmolLM2-135M (Q4_1) and of the embedded model (bf16), rotated / in groups: 8 bits 0.79 / 0.78 %
// and 0.70 / 0.68 %, 4 bits 8.2 / 4.7 % and 8.1 / 8.1 %. Rotating the rows of activations took a third of a decode
// step.
#pragma once

#include <cstdint>
#include <span>

#include "base/weight_format.h"

namespace pagoda::device::host {

constexpr int64_t kColumnPadding = 128;  // rows are zero-padded to a multiple of this before rotation
constexpr int64_t kStepGroup = 32;       // columns per step and offset in a 4-bit row, per shift in an 8-bit one

// Columns rotated together in a row of `padded` columns: the largest power of two that divides it, at most 4096.
constexpr int64_t rotation_block(int64_t padded) noexcept {
  const int64_t largest = padded & -padded;
  return largest < 4096 ? largest : 4096;
}

// Multiplies each block by the Hadamard matrix (entries 1 and -1); applying it twice multiplies the row by `block`.
// Adds at strides 1, 2, 4, ... in this order, so that the result is the same to the bit everywhere.
void rotate(std::span<float> row, int64_t block) noexcept;

// A rotated row of weights: w = scale * q, q in -127..127. Returns false if a number is not finite.
bool quantise_8bit(std::span<const float> row, int8_t* values, float& scale) noexcept;

// A row in groups: w = scale * 2^-shift[group] * q, q in -127..127, shift in 0..15. Powers of two keep q 2^-shift exact
// as a bfloat.
bool quantise_8bit_groups(std::span<const float> row, int8_t* values, uint8_t* shifts, float& scale) noexcept;

// w = scale * (step[group] * q + offset[group] - 128), q in 0..15, step in 1..17: step * q + offset is a byte, so this
// is an int8 row stored in 4 bits per weight. That requires integer steps and offsets; a float scale and bias per 64
// columns (MLX) take as many bits, had 8 % more error (neither rotated) and put float work into the inner loop.
struct Steps {
  uint8_t step, offset;
};
bool quantise_4bit(std::span<const float> row, uint8_t* values, Steps* steps, float& scale) noexcept;

// Rounds a row to the values that a GPU stores for it: q8 or q4, in groups. Returns false if a number is not finite.
bool round_in_groups(WeightFormat format, std::span<float> row);

}  // namespace pagoda::device::host
