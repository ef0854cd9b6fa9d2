// Element types of tensors, their sizes, and exact conversions between the 16-bit floats and float.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pagoda {

enum class DType : uint8_t { f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64, boolean, f8_e4m3, f8_e5m2 };

constexpr size_t dtype_bytes(DType type) noexcept {
  switch (type) {
    case DType::f64:
    case DType::i64:
    case DType::u64: return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32: return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16: return 2;
    default: return 1;
  }
}

std::string_view dtype_name(DType type) noexcept;  // float32, bfloat16, ...

inline float bf16_to_f32(uint16_t bits) noexcept { return std::bit_cast<float>(uint32_t{bits} << 16); }

// Round to nearest even; NaN stays a (quiet) NaN.
inline uint16_t f32_to_bf16(float value) noexcept {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float f16_to_f32(uint16_t bits) noexcept { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

inline uint16_t f32_to_f16(float value) noexcept { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

}  // namespace pagoda
