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

// Sign, 4 bits of exponent, 3 of fraction, no infinities.
inline float f8_e4m3_to_f32(uint8_t bits) noexcept {
  const uint32_t exponent = bits >> 3 & 15, fraction = bits & 7, sign = uint32_t{bits} >> 7 << 31;
  if (exponent == 15 && fraction == 7) return std::bit_cast<float>(sign | 0x7fc00000u);
  const uint32_t size = exponent == 0 ? std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-9f)
                                      : (exponent + 120) << 23 | fraction << 20;
  return std::bit_cast<float>(sign | size);
}

inline float f16_to_f32(uint16_t bits) noexcept { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

inline uint16_t f32_to_f16(float value) noexcept { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

}  // namespace pagoda
