// QuantFormat: how files store quantised matrices, one row of a table per format. Readers, the memory plan, the
// reference and the CPU kernels follow this description.
//   w = a (value - zero) + b, where value is the code itself, table[code], or the code as an 8-bit float, and a, b
//   belong
// to a group of columns:
//   one level:  a = scale, b = minimum, both as stored; b = 0 without minima; with zeros, b = -(scale * zero), which is
//               exact, and minima are bytes that hold the zeros
//   two levels: a = upper scale * scale, b = -(upper minimum * minimum), the upper ones per `super` columns, as f16
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pagoda {

enum class ScaleType : uint8_t {
  f16,
  bf16,
  f32,
  e8m0,     // the scale is 2^(e - 128)
  e4m3,     // the scale is half of the 8-bit float
  u8,       // in two levels: unsigned bytes
  i8,       // in two levels: signed bytes
  nibbles,  // in two levels: scale and minimum of 4 bits each
};

enum class CodeTable : uint8_t {
  none,
  curve,
  float4,
  float8,  // E4M3: codes are not integers, see device/cpu/stored/float8_product.h
};

struct QuantFormat {
  std::string_view name;
  int bits;   // per code: 2, 3, 4, 5, 6 or 8
  int group;  // columns per scale: 16 or a multiple of 32
  int super;  // columns per upper scale; 0: one level
  int zero;
  CodeTable table;
  ScaleType scale;
  bool has_min;
  bool has_zeros = false;  // needs has_min

  constexpr int scale_bytes() const noexcept {
    return scale == ScaleType::f32 ? 4 : scale == ScaleType::f16 || scale == ScaleType::bf16 ? 2 : 1;
  }
  constexpr int min_bytes() const noexcept { return !has_min ? 0 : has_zeros ? 1 : scale_bytes(); }
  // Columns after which the pattern of scales repeats: rows are a multiple of it.
  constexpr int unit() const noexcept { return super > 0 ? super : group < 32 ? 32 : group; }
};

// Values of the 4-bit tables, plus 128.
constexpr uint8_t kCurve[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
constexpr uint8_t kFloat4[16] = {128, 129, 130, 131, 132, 134, 136, 140, 128, 127, 126, 125, 124, 122, 120, 116};

// Formats of GGUF, those of MLX, those of GPTQ, AWQ and compressed-tensors, and blocks of FP8. The short ones are
// GGUF's of two levels, whose upper scales were repeated every 128 columns to put the columns into another order.
enum class QuantId : uint8_t {
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  q2_k_short,
  q3_k_short,
  q4_k_short,
  q5_k_short,
  q6_k_short,
  iq4_xs_short,
  first_affine,                          // [6 widths][3 groups][f16, bf16, f32]
  first_integer = first_affine + 6 * 9,  // [4 and 8 bits][3 groups][f16, bf16][without zeros, with zeros]
  nvfp4 = first_integer + 2 * 3 * 2 * 2,
  fp8,  // the scale of a block of 128 x 128 is repeated in each of its rows
};
constexpr int kAffineBits[] = {2, 3, 4, 5, 6, 8};
constexpr int kAffineGroups[] = {32, 64, 128};
constexpr size_t kNumQuantFormats = static_cast<size_t>(QuantId::fp8) + 1;

constexpr std::array<QuantFormat, kNumQuantFormats> make_quant_formats() noexcept {
  using enum ScaleType;
  constexpr CodeTable kNone = CodeTable::none;
  std::array<QuantFormat, kNumQuantFormats> all = {{
      {"Q4_0", 4, 32, 0, 8, kNone, f16, false},
      {"Q4_1", 4, 32, 0, 0, kNone, f16, true},
      {"Q5_0", 5, 32, 0, 16, kNone, f16, false},
      {"Q5_1", 5, 32, 0, 0, kNone, f16, true},
      {"Q8_0", 8, 32, 0, 128, kNone, f16, false},
      {"Q2_K", 2, 16, 256, 0, kNone, nibbles, true},
      {"Q3_K", 3, 16, 256, 4, kNone, i8, false},
      {"Q4_K", 4, 32, 256, 0, kNone, u8, true},
      {"Q5_K", 5, 32, 256, 0, kNone, u8, true},
      {"Q6_K", 6, 16, 256, 32, kNone, i8, false},
      {"IQ4_NL", 4, 32, 0, 128, CodeTable::curve, f16, false},
      {"IQ4_XS", 4, 32, 256, 128, CodeTable::curve, i8, false},
      {"MXFP4", 4, 32, 0, 128, CodeTable::float4, e8m0, false},
  }};
  size_t next = static_cast<size_t>(QuantId::q2_k_short);
  for (const QuantId id :
       {QuantId::q2_k, QuantId::q3_k, QuantId::q4_k, QuantId::q5_k, QuantId::q6_k, QuantId::iq4_xs}) {
    all[next] = all[static_cast<size_t>(id)];
    all[next++].super = 128;
  }
  constexpr std::string_view kNames[] = {"affine 2 bits", "affine 3 bits", "affine 4 bits",
                                         "affine 5 bits", "affine 6 bits", "affine 8 bits"};
  for (size_t i = 0; i < 6; ++i)
    for (const int group : kAffineGroups)
      for (const ScaleType scale : {f16, bf16, f32})
        all[next++] = {kNames[i], kAffineBits[i], group, 0, 0, kNone, scale, true};
  for (const int bits : {4, 8})
    for (const int group : kAffineGroups)
      for (const ScaleType scale : {f16, bf16}) {
        all[next++] = {bits == 4 ? "int4" : "int8", bits, group, 0, 1 << (bits - 1), kNone, scale, false};
        all[next++] = {bits == 4 ? "int4 with zeros" : "int8 with zeros", bits, group, 0, 0, kNone, scale, true, true};
      }
  all[next++] = {"NVFP4", 4, 16, 0, 128, CodeTable::float4, e4m3, false};
  all[next] = {"FP8", 8, 128, 0, 0, CodeTable::float8, f32, false};
  return all;
}
inline constexpr std::array<QuantFormat, kNumQuantFormats> kQuantFormats = make_quant_formats();

}  // namespace pagoda
