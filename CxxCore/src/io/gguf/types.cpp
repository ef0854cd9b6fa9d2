// Converts blocks of GGUF files to floats. Each product is rounded before it is added, as in the reference.
#include "io/gguf/types.h"

#include <bit>
#include <cstring>

#include "base/dtype.h"

#pragma clang fp contract(off)

namespace pagoda::io {
namespace {

constexpr int kSuper = 256;  // elements of a block of the K types

int byte(const std::byte* p) noexcept { return std::to_integer<int>(*p); }
int low(const std::byte* p) noexcept { return byte(p) & 15; }
int high(const std::byte* p) noexcept { return byte(p) >> 4; }

float half(const std::byte* p) noexcept {
  uint16_t bits;
  std::memcpy(&bits, p, 2);
  return f16_to_f32(bits);
}

template <uint32_t kBytes, uint32_t kSize, class Block>
void each_block(const std::byte* from, uint64_t num_blocks, float* to, Block&& block) {
  for (uint64_t i = 0; i < num_blocks; ++i) block(from + i * kBytes, to + i * kSize);
}

void decode_f32(const std::byte* from, uint64_t n, float* to) { std::memcpy(to, from, n * 4); }
void decode_f16(const std::byte* from, uint64_t n, float* to) {
  each_block<2, 1>(from, n, to, [](const std::byte* b, float* out) { *out = half(b); });
}
void decode_bf16(const std::byte* from, uint64_t n, float* to) {
  each_block<2, 1>(from, n, to, [](const std::byte* b, float* out) {
    uint16_t bits;
    std::memcpy(&bits, b, 2);
    *out = bf16_to_f32(bits);
  });
}

// 32 elements: the first 16 are the low nibbles, the others the high ones.
void decode_q4_0(const std::byte* from, uint64_t n, float* to) {
  each_block<18, 32>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(low(b + 2 + i) - 8);
      out[16 + i] = d * static_cast<float>(high(b + 2 + i) - 8);
    }
  });
}
void decode_q4_1(const std::byte* from, uint64_t n, float* to) {
  each_block<20, 32>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b), m = half(b + 2);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(low(b + 4 + i)) + m;
      out[16 + i] = d * static_cast<float>(high(b + 4 + i)) + m;
    }
  });
}

// `bits` holds the fifth bits of all 32 elements.
int five(const std::byte* nibbles, uint32_t bits, int i) noexcept {
  const int four = i < 16 ? low(nibbles + i) : high(nibbles + i - 16);
  return four | static_cast<int>(bits >> i & 1) << 4;
}
void decode_q5_0(const std::byte* from, uint64_t n, float* to) {
  each_block<22, 32>(from, n, to, [](const std::byte* b, float* out) {
    uint32_t bits;
    std::memcpy(&bits, b + 2, 4);
    for (int i = 0; i < 32; ++i) out[i] = half(b) * static_cast<float>(five(b + 6, bits, i) - 16);
  });
}
void decode_q5_1(const std::byte* from, uint64_t n, float* to) {
  each_block<24, 32>(from, n, to, [](const std::byte* b, float* out) {
    uint32_t bits;
    std::memcpy(&bits, b + 4, 4);
    for (int i = 0; i < 32; ++i) out[i] = half(b) * static_cast<float>(five(b + 8, bits, i)) + half(b + 2);
  });
}
void decode_q8_0(const std::byte* from, uint64_t n, float* to) {
  each_block<34, 32>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b);
    for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(static_cast<int8_t>(byte(b + 2 + i))) * d;
  });
}

// 16 groups of 16, each with 4 bits of scale and 4 of minimum. Four elements of two bits, 32 apart, share a byte.
void decode_q2_k(const std::byte* from, uint64_t n, float* to) {
  each_block<84, kSuper>(from, n, to, [](const std::byte* b, float* out) {
    const std::byte* values = b + 16;
    const float d = half(b + 80), m = half(b + 82);
    for (int i = 0; i < kSuper; ++i) {
      const float scale = d * static_cast<float>(low(b + i / 16)), minimum = m * static_cast<float>(high(b + i / 16));
      const int q = byte(values + i / 128 * 32 + i % 32) >> (i / 32 % 4 * 2) & 3;
      out[i] = scale * static_cast<float>(q) - minimum;
    }
  });
}

// The third bits are separate in `b`; 6-bit scales: their low nibbles in 8 bytes, their high pairs in 4.
void decode_q3_k(const std::byte* from, uint64_t n, float* to) {
  each_block<110, kSuper>(from, n, to, [](const std::byte* b, float* out) {
    const std::byte *values = b + 32, *scales = b + 96;
    const float d = half(b + 108);
    for (int i = 0; i < kSuper; ++i) {
      const int g = i / 16, nibble = g < 8 ? low(scales + g) : high(scales + g - 8);
      const int scale = nibble | (byte(scales + 8 + g % 4) >> (g / 4 * 2) & 3) << 4;
      const int third = byte(b + i % 32) >> (i / 32) & 1;
      const int q = (byte(values + i / 128 * 32 + i % 32) >> (i / 32 % 4 * 2) & 3) - (third ? 0 : 4);
      out[i] = d * static_cast<float>(scale - 32) * static_cast<float>(q);
    }
  });
}

struct ScaleAndMinimum {
  int scale, minimum;
};
// 8 groups of 32: 6-bit scales and minima in 12 bytes, the last four of each in the bits that the others leave free.
ScaleAndMinimum scale_and_minimum(const std::byte* packed, int g) noexcept {
  if (g < 4) return {byte(packed + g) & 63, byte(packed + g + 4) & 63};
  return {low(packed + g + 4) | byte(packed + g - 4) >> 6 << 4, high(packed + g + 4) | byte(packed + g) >> 6 << 4};
}
// Nibbles: 32 elements in the low ones, the next 32 in the high ones of the same bytes.
int nibble_of(const std::byte* values, int i) noexcept {
  const std::byte* at = values + i / 64 * 32 + i % 32;
  return i / 32 % 2 == 0 ? low(at) : high(at);
}
void decode_q4_k(const std::byte* from, uint64_t n, float* to) {
  each_block<144, kSuper>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b), m = half(b + 2);
    for (int i = 0; i < kSuper; ++i) {
      const ScaleAndMinimum s = scale_and_minimum(b + 4, i / 32);
      const float scale = d * static_cast<float>(s.scale), minimum = m * static_cast<float>(s.minimum);
      out[i] = scale * static_cast<float>(nibble_of(b + 16, i)) - minimum;
    }
  });
}
void decode_q5_k(const std::byte* from, uint64_t n, float* to) {
  each_block<176, kSuper>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b), m = half(b + 2);
    for (int i = 0; i < kSuper; ++i) {
      const ScaleAndMinimum s = scale_and_minimum(b + 4, i / 32);
      const float scale = d * static_cast<float>(s.scale), minimum = m * static_cast<float>(s.minimum);
      const int q = nibble_of(b + 48, i) | (byte(b + 16 + i % 32) >> (i / 32) & 1) << 4;
      out[i] = scale * static_cast<float>(q) - minimum;
    }
  });
}
// Nibbles: 64 elements in the low ones, the next 64 in the high ones; the upper two bits of four elements, 32 apart,
// share a byte.
void decode_q6_k(const std::byte* from, uint64_t n, float* to) {
  each_block<210, kSuper>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b + 208);
    for (int i = 0; i < kSuper; ++i) {
      const std::byte* at = b + i / 128 * 64 + i % 64;
      const int four = i / 64 % 2 == 0 ? low(at) : high(at);
      const int q = (four | (byte(b + 128 + i / 128 * 32 + i % 32) >> (i / 32 % 4 * 2) & 3) << 4) - 32;
      const int scale = static_cast<int8_t>(byte(b + 192 + i / 16));
      out[i] = d * static_cast<float>(scale) * static_cast<float>(q);
    }
  });
}

constexpr int8_t kCurve[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void decode_iq4_nl(const std::byte* from, uint64_t n, float* to) {
  each_block<18, 32>(from, n, to, [](const std::byte* b, float* out) {
    const float d = half(b);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(kCurve[low(b + 2 + i)]);
      out[16 + i] = d * static_cast<float>(kCurve[high(b + 2 + i)]);
    }
  });
}
void decode_iq4_xs(const std::byte* from, uint64_t n, float* to) {
  each_block<136, kSuper>(from, n, to, [](const std::byte* b, float* out) {
    const int high_pairs = byte(b + 2) | byte(b + 3) << 8;
    for (int i = 0; i < kSuper; ++i) {
      const int g = i / 32, nibble = g % 2 == 0 ? low(b + 4 + g / 2) : high(b + 4 + g / 2);
      const int scale = (nibble | (high_pairs >> (2 * g) & 3) << 4) - 32;
      const std::byte* at = b + 8 + g * 16 + i % 16;
      const int q = kCurve[i % 32 < 16 ? low(at) : high(at)];
      out[i] = half(b) * static_cast<float>(scale) * static_cast<float>(q);
    }
  });
}

// Twice the numbers of a 4-bit float with 2 bits of exponent; the scale is half of 2^(e - 127) to compensate.
constexpr int8_t kFloat4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

void decode_mxfp4(const std::byte* from, uint64_t n, float* to) {
  each_block<17, 32>(from, n, to, [](const std::byte* b, float* out) {
    const auto e = static_cast<uint32_t>(byte(b));
    const float d = std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23);
    for (int i = 0; i < 16; ++i) {
      out[i] = d * static_cast<float>(kFloat4[low(b + 1 + i)]);
      out[16 + i] = d * static_cast<float>(kFloat4[high(b + 1 + i)]);
    }
  });
}

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, 32, decode_f32},
    {1, "F16", 1, 2, 16, decode_f16},
    {2, "Q4_0", 32, 18, 4, decode_q4_0},
    {3, "Q4_1", 32, 20, 4, decode_q4_1},
    {6, "Q5_0", 32, 22, 5, decode_q5_0},
    {7, "Q5_1", 32, 24, 5, decode_q5_1},
    {8, "Q8_0", 32, 34, 8, decode_q8_0},
    {9, "Q8_1", 32, 40, 8, nullptr},
    {10, "Q2_K", kSuper, 84, 2, decode_q2_k},
    {11, "Q3_K", kSuper, 110, 3, decode_q3_k},
    {12, "Q4_K", kSuper, 144, 4, decode_q4_k},
    {13, "Q5_K", kSuper, 176, 5, decode_q5_k},
    {14, "Q6_K", kSuper, 210, 6, decode_q6_k},
    {15, "Q8_K", kSuper, 292, 8, nullptr},
    {16, "IQ2_XXS", kSuper, 66, 2, nullptr},
    {17, "IQ2_XS", kSuper, 74, 2, nullptr},
    {18, "IQ3_XXS", kSuper, 98, 3, nullptr},
    {19, "IQ1_S", kSuper, 50, 1, nullptr},
    {20, "IQ4_NL", 32, 18, 4, decode_iq4_nl},
    {21, "IQ3_S", kSuper, 110, 3, nullptr},
    {22, "IQ2_S", kSuper, 82, 2, nullptr},
    {23, "IQ4_XS", kSuper, 136, 4, decode_iq4_xs},
    {24, "I8", 1, 1, 8, nullptr},
    {25, "I16", 1, 2, 16, nullptr},
    {26, "I32", 1, 4, 32, nullptr},
    {27, "I64", 1, 8, 64, nullptr},
    {28, "F64", 1, 8, 64, nullptr},
    {29, "IQ1_M", kSuper, 56, 1, nullptr},
    {30, "BF16", 1, 2, 16, decode_bf16},
    {34, "TQ1_0", kSuper, 54, 2, nullptr},
    {35, "TQ2_0", kSuper, 66, 2, nullptr},
    {39, "MXFP4", 32, 17, 4, decode_mxfp4},
    {40, "NVFP4", 64, 36, 4, nullptr},
};

}  // namespace

const GgufType* find_gguf_type(uint32_t id) noexcept {
  for (const GgufType& type : kTypes)
    if (type.id == id) return &type;
  return nullptr;
}

}  // namespace pagoda::io
