// Products of stored formats in single lanes: for each group of columns, the sum of (code - zero) x, then its scale
// times that sum, and with minima the minimum times the sum of x, in the order of stored.h.
//
// The bits are those of add_groups() wherever its sums are finite. If one overflows, it makes all eight columns of the
// tile NaNs (zero times infinity), and this only the column itself.
#pragma once

#include "scalar.h"

template <>
struct Line<kStored4> {
  uint4 a[2];
  uint first;
  uint second;
};
template <>
struct Line<kStored8> {
  uint4 a[4];
  uint first;
  uint second;
};
template <>
struct Line<kFine8> {
  uint4 a[4];
  uint first;
  uint second;
  uint third;
};

METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<kStored4>& to) {
  device const uint* record = record_of(steps, scales, at);
  to.a[0] = *(device const uint4*)(w + at / 8);
  to.a[1] = *(device const uint4*)(w + at / 8 + 4);
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<kStored8>& to) {
  device const uint* record = record_of(steps, scales, at);
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 4 + 4 * i);
  }
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<kFine8>& to) {
  device const uint* record = record_of(steps, scales, at);
  const uint second = second_of(scales, at);
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 4 + 4 * i);
  }
  to.first = record[0];
  to.second = record[second];
  to.third = record[second + scales.step / 2];  // without minima, the same again
}

// a of every group of the chunk, then b.
template <uint BITS>
METAL_FUNC void line_scales(thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                            thread float (&terms)[4]) {
  group_terms(line.first, line.second, scales.kind, terms);
}

template <uint BITS>
METAL_FUNC void line_scales(thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                            thread float (&terms)[8]) {
  Share<BITS> share;
  share.a = line.a[0];
  share.first = line.first;
  share.second = line.second;
  share.third = line.third;
  share_terms(share, scales, terms);
}

// Tile j of a chunk: codes minus `zero`.
METAL_FUNC void tile_codes(thread const Line<kStored4>& line, bool is_float, uint zero, uint j,
                           thread float (&codes)[8]) {
  float one[2];
  float base[2][3];
#pragma unroll
  for (uint g = 0; g < 2; ++g) {
    one[g] = 1.0f;
#pragma unroll
    for (uint i = 0; i < 3; ++i) {
      base[g][i] = -as_type<float>((142u - 4 * i) << 23) - float(zero);
    }
  }
  nibble_numbers<kStored4>(line, one, base, j, codes);
}

// 8 bits: the bytes at the bits 0 and 8 of words become the low part of floats, without shifts and conversions. Codes
// that are floats lie at the bits 0 and 16 (pair_of_floats).
template <uint BITS>
METAL_FUNC void tile_codes(thread const Line<BITS>& line, bool is_float, uint zero, uint j, thread float (&codes)[8]) {
  if (is_float) {
#pragma unroll
    for (uint q = 0; q < 4; ++q) {
      const uint word = j % 2 == 0 ? line.a[q][j / 2] : line.a[q][j / 2] >> 8;
      codes[2 * q] = float8_in(word & 255u);
      codes[2 * q + 1] = float8_in(word >> 16 & 255u);
    }
    return;
  }
  const float first = 8388608.0f + float(zero);
  const float second = 32768.0f + float(zero);
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = j % 2 == 0 ? line.a[q][j / 2] : line.a[q][j / 2] >> 16;
    codes[2 * q] = as_type<float>((word & 255u) | 0x4b000000u) - first;
    codes[2 * q + 1] = as_type<float>((word & 0xff00u) | 0x47000000u) - second;
  }
}

// The sum of x over every staged group, by one lane each: 2 GROUPS of them for every row.
template <uint BITS, uint M>
METAL_FUNC float staged_sums(Stored<true> kind, constant pagoda_args::Scales& scales, threadgroup const float* staged,
                             uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 8 : 4;  // of a row
  constexpr uint COLUMNS = kStaged / GROUPS;
  float sum = 0.0f;
  // Only saves work: without minima the sums are not used.
  if ((scales.kind & kHasMins) != 0) {
    threadgroup const float* x = staged + lane / GROUPS % M * kStaged + lane % GROUPS * COLUMNS;
#pragma unroll
    for (uint i = 0; i < COLUMNS; i += 4) {
      const float4 v = *(threadgroup const float4*)(x + i);
      sum += v.x;
      sum += v.y;
      sum += v.z;
      sum += v.w;
    }
  }
  return sum;
}

template <typename T, uint BITS, uint M>
METAL_FUNC void multiply_line(Stored<true> kind, thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                              threadgroup const float* staged, float x_sums, uint chunk, thread float (&sums)[M]) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  constexpr uint TILES = kChunkTiles / GROUPS;  // of a group
  float terms[2 * GROUPS];
  line_scales(line, scales, terms);
  const bool is_float = (scales.kind & kFloatCodes) != 0;
#pragma unroll
  for (uint g = 0; g < GROUPS; ++g) {
    float parts[M];
#pragma unroll
    for (uint m = 0; m < M; ++m) {
      parts[m] = 0.0f;
    }
#pragma unroll
    for (uint j = g * TILES; j < (g + 1) * TILES; ++j) {
      float codes[8];
      tile_codes(line, is_float, scales.zero, j, codes);
      multiply_numbers<M>(codes, staged + chunk * kChunk + 8 * j, parts);
    }
#pragma unroll
    for (uint m = 0; m < M; ++m) {
      sums[m] = fma(terms[g], parts[m], sums[m]);
      // Only saves work: without minima the sum is zero.
      if ((scales.kind & kHasMins) != 0) {
        const float x_sum = simd_shuffle(x_sums, ushort((2 * m + chunk) * GROUPS + g));
        sums[m] = fma(terms[GROUPS + g], x_sum, sums[m]);
      }
    }
  }
}
