// Unpacks codes, eight at a time: they begin at a byte for any width.
#include "io/quantize/stored.h"

#include <cstring>

namespace pagoda::io {

std::optional<WeightFormat> affine_format(int bits, int64_t group, DType scales) noexcept {
  const ScaleType wanted = scales == DType::f16    ? ScaleType::f16
                           : scales == DType::bf16 ? ScaleType::bf16
                                                   : ScaleType::f32;
  for (size_t i = static_cast<size_t>(QuantId::first_affine); i < static_cast<size_t>(QuantId::first_integer); ++i)
    if (kQuantFormats[i].bits == bits && kQuantFormats[i].group == group && kQuantFormats[i].scale == wanted)
      return weight_format(static_cast<QuantId>(i));
  return std::nullopt;
}

std::optional<WeightFormat> integer_format(int bits, int64_t group, DType scales, bool has_zeros) noexcept {
  const ScaleType wanted = scales == DType::f16 ? ScaleType::f16 : ScaleType::bf16;
  if (scales != DType::f16 && scales != DType::bf16) return std::nullopt;
  for (const int64_t of_format : {128, 64, 32})
    for (size_t i = static_cast<size_t>(QuantId::first_integer); i < kNumQuantFormats; ++i) {
      const QuantFormat& f = kQuantFormats[i];
      if (f.bits == bits && f.group == of_format && group % f.group == 0 && f.scale == wanted &&
          f.has_zeros == has_zeros)
        return weight_format(static_cast<QuantId>(i));
    }
  return std::nullopt;
}

void unpack_codes(const std::byte* packed, int bits, uint64_t count, uint8_t* codes) noexcept {
  if (bits == 8) {
    std::memcpy(codes, packed, count);
    return;
  }
  if (bits == 4) {
    for (uint64_t i = 0; i < count / 2; ++i) {
      codes[2 * i] = std::to_integer<uint8_t>(packed[i]) & 15;
      codes[2 * i + 1] = std::to_integer<uint8_t>(packed[i]) >> 4;
    }
    return;
  }
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  for (uint64_t i = 0; i < count; i += 8, packed += bits) {
    uint64_t eight;
    std::memcpy(&eight, packed, 8);
    for (int k = 0; k < 8; ++k) codes[i + static_cast<uint64_t>(k)] = static_cast<uint8_t>(eight >> (k * bits) & mask);
  }
}

}  // namespace pagoda::io
