// Quantised rows: the numbers that 8-bit and 4-bit weights stand for, whatever order a device keeps them in.
// Plain minimum and maximum per group: one pass, no calibration data, the same result on every machine.
#pragma once

#include <cstdint>
#include <span>

namespace pagoda::device::host {

constexpr int64_t kScaleGroup = 128;  // columns per scale of an 8-bit row, and per scale of int8 activations
constexpr int64_t kStepGroup = 32;    // columns per step and offset of a 4-bit row

// w = scale[group] * q, q in -127..127. `scales` are the bits of float16. False: a number is not finite, or too large.
bool quantise_8bit(std::span<const float> row, int8_t* values, uint16_t* scales) noexcept;

// w = row_scale * (step[group] * q + offset[group] - 128), q in 0..15, step in 1..17: step * q + offset is a byte, so
// a row is an int8 row with one scale whose bytes are kept in four bits. Steps and offsets are integers so that a
// product over all columns is one integer sum; MLX's float scale and bias per 64 columns takes as many bits, has
// 8 % more error and forces float work into the sum.
struct Steps {
  uint8_t step, offset;
};
bool quantise_4bit(std::span<const float> row, uint8_t* values, Steps* steps, float& row_scale) noexcept;

}  // namespace pagoda::device::host
