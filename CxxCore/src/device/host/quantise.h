// Quantised rows: the numbers that 8-bit and 4-bit weights stand for, whatever order a device keeps them in.
// A row is rotated first (by a Hadamard matrix, per block of columns), and so are the activations that meet it:
// products stay the same, but a large number is spread over its whole block. One scale per row is then enough on both
// sides, and a product is one integer sum over all columns: exact in any order, and nothing but multiplications in the
// inner loop. Rejected: scales per 128 columns without rotation. Error of a product at K = 1024, plain / with outliers
// in x / and with heavy-tailed weights: 0.93 / 2.22 / 2.30 % against 1.11 / 1.07 / 1.00 %, at two thirds of the
// products' speed. Plain minimum and maximum: one pass, no calibration data, the same result on every machine.
#pragma once

#include <cstdint>
#include <span>

namespace pagoda::device::host {

constexpr int64_t kColumnPadding = 128;  // rows are padded with zeros to a multiple before they are rotated
constexpr int64_t kStepGroup = 32;       // columns per step and offset of a 4-bit row

// Columns that are rotated together in rows of `padded` columns: the largest power of two that divides them, to 4096.
constexpr int64_t rotation_block(int64_t padded) noexcept {
  const int64_t largest = padded & -padded;
  return largest < 4096 ? largest : 4096;
}

// Multiplies each block with the Hadamard matrix (entries 1 and -1): applied twice, it is `block` times the row.
// Additions in the order of strides 1, 2, 4, ...: the bits are the same wherever it runs.
void rotate(std::span<float> row, int64_t block) noexcept;

// A rotated row of weights: w = scale * q, q in -127..127. False: a number is not finite.
bool quantise_8bit(std::span<const float> row, int8_t* values, float& scale) noexcept;

// w = scale * (step[group] * q + offset[group] - 128), q in 0..15, step in 1..17: step * q + offset is a byte, so it is
// an int8 row whose bytes are kept in four bits. Steps and offsets are integers so that it stays one; a float scale and
// bias per 64 columns (MLX) takes as many bits, had 8 % more error (neither rotated) and puts float work into the sum.
struct Steps {
  uint8_t step, offset;
};
bool quantise_4bit(std::span<const float> row, uint8_t* values, Steps* steps, float& scale) noexcept;

}  // namespace pagoda::device::host
