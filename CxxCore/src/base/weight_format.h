// WeightFormat: the storage format of a weight matrix on a device.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace pagoda {

enum class WeightFormat : uint8_t {
  f32,
  f16,
  bf16,
  q8,  // int8 of the rotated row, one float scale per row
  q4,  // 4 bits per weight: an integer step and offset per 32 columns expand them to the int8 above
};

// The rows of each expert in a weight are padded to a multiple of this, so that every expert starts at a packed block.
constexpr int64_t kExpertRowMultiple = 16;

constexpr WeightFormat weight_format(DType dtype) noexcept {
  return dtype == DType::f16 ? WeightFormat::f16 : dtype == DType::bf16 ? WeightFormat::bf16 : WeightFormat::f32;
}

constexpr bool is_quantised(WeightFormat format) noexcept {
  return format == WeightFormat::q8 || format == WeightFormat::q4;
}

constexpr std::string_view weight_format_name(WeightFormat format) noexcept {
  constexpr std::string_view kNames[] = {"float32", "float16", "bfloat16", "8bit", "4bit"};
  return kNames[static_cast<size_t>(format)];
}

}  // namespace pagoda
