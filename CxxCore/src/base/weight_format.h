// WeightFormat: the storage format of a weight matrix on a device.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.h"
#include "base/quant/quant_format.h"

namespace pagoda {

enum class WeightFormat : uint8_t {
  f32,
  f16,
  bf16,
  q8,  // int8 of the rotated row, one float scale per row
  q4,  // 4 bits per weight: an integer step and offset per 32 columns expand them to the int8 above
  // The format in which the file stores each matrix; a matrix in it is joined from pieces of several formats.
  stored,
  first_quant,  // this and the following: row i of kQuantFormats
};

constexpr bool is_stored(WeightFormat format) noexcept { return format >= WeightFormat::first_quant; }

// Requires is_stored(format).
constexpr const QuantFormat& quant_format(WeightFormat format) noexcept {
  return kQuantFormats[static_cast<size_t>(format) - static_cast<size_t>(WeightFormat::first_quant)];
}
constexpr WeightFormat weight_format(QuantId id) noexcept {
  return static_cast<WeightFormat>(static_cast<size_t>(WeightFormat::first_quant) + static_cast<size_t>(id));
}

// The rows of each expert in a weight are padded to a multiple of this, so that every expert starts at a packed block.
constexpr int64_t kExpertRowMultiple = 16;

constexpr WeightFormat weight_format(DType dtype) noexcept {
  return dtype == DType::f16 ? WeightFormat::f16 : dtype == DType::bf16 ? WeightFormat::bf16 : WeightFormat::f32;
}

constexpr bool is_quantised(WeightFormat format) noexcept {
  return format != WeightFormat::f32 && format != WeightFormat::f16 && format != WeightFormat::bf16;
}

constexpr std::string_view weight_format_name(WeightFormat format) noexcept {
  constexpr std::string_view kNames[] = {"float32", "float16", "bfloat16", "8bit", "4bit", "as stored"};
  return is_stored(format) ? quant_format(format).name : kNames[static_cast<size_t>(format)];
}

}  // namespace pagoda
