// stored_scalar.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 8 "Shaders/stored_scalar.h"
#include "device/gpu/generated/scalar.h"

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

METAL_FUNC void load_line(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, MSL_THREAD Line<kStored4>& to) {
  MSL_DEVICE const uint* record = record_of(steps, scales, at);
  to.a[0] = *(MSL_DEVICE const uint4*)(w + at / 8);
  to.a[1] = *(MSL_DEVICE const uint4*)(w + at / 8 + 4);
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_line(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, MSL_THREAD Line<kStored8>& to) {
  MSL_DEVICE const uint* record = record_of(steps, scales, at);

  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(MSL_DEVICE const uint4*)(w + at / 4 + 4 * i);
  }
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_line(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, MSL_THREAD Line<kFine8>& to) {
  MSL_DEVICE const uint* record = record_of(steps, scales, at);
  const uint second = second_of(scales, at);

  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(MSL_DEVICE const uint4*)(w + at / 4 + 4 * i);
  }
  to.first = record[0];
  to.second = record[second];
  to.third = record[second + scales.step / 2];
}


template <uint BITS>
METAL_FUNC void line_scales(MSL_THREAD const Line<BITS>& line, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD float (&terms)[4]) {
  group_terms(line.first, line.second, scales.kind, terms);
}

template <uint BITS>
METAL_FUNC void line_scales(MSL_THREAD const Line<BITS>& line, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD float (&terms)[8]) {
  Share<BITS> share;
  share.a = line.a[0];
  share.first = line.first;
  share.second = line.second;
  share.third = line.third;
  share_terms(share, scales, terms);
}


METAL_FUNC void tile_codes(MSL_THREAD const Line<kStored4>& line, bool is_float, uint zero, uint j,
                           MSL_THREAD float (&codes)[8]) {
  float one[2];
  float base[2][3];

  for (uint g = 0; g < 2; ++g) {
    one[g] = 1.0f;

    for (uint i = 0; i < 3; ++i) {
      base[g][i] = -as_type<float>((142u - 4 * i) << 23) - float(zero);
    }
  }
  nibble_numbers<kStored4>(line, one, base, j, codes);
}
# 99 "Shaders/stored_scalar.h"
template <uint BITS>
METAL_FUNC void tile_codes(MSL_THREAD const Line<BITS>& line, bool is_float, uint zero, uint j, MSL_THREAD float (&codes)[8]) {
  if (is_float) {

    for (uint q = 0; q < 4; ++q) {
      const uint word = j % 2 == 0 ? line.a[q][j / 2] : line.a[q][j / 2] >> 8;
      codes[2 * q] = float8_in(word & 255u);
      codes[2 * q + 1] = float8_in(word >> 16 & 255u);
    }
    return;
  }
  const float first = 8388608.0f + float(zero);
  const float second = 32768.0f + float(zero);

  for (uint q = 0; q < 4; ++q) {
    const uint word = j % 2 == 0 ? line.a[q][j / 2] : line.a[q][j / 2] >> 16;
    codes[2 * q] = as_type<float>((word & 255u) | 0x4b000000u) - first;
    codes[2 * q + 1] = as_type<float>((word & 0xff00u) | 0x47000000u) - second;
  }
}


template <uint BITS, uint M>
METAL_FUNC float staged_sums(Stored<true> kind, MSL_CONSTANT pagoda_args::Scales& scales, MSL_THREADGROUP const float* staged,
                             uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 8 : 4;
  constexpr uint COLUMNS = kStaged / GROUPS;
  float sum = 0.0f;

  if ((scales.kind & kHasMins) != 0) {
    MSL_THREADGROUP const float* x = staged + lane / GROUPS % M * kStaged + lane % GROUPS * COLUMNS;

    for (uint i = 0; i < COLUMNS; i += 4) {
      const float4 v = *(MSL_THREADGROUP const float4*)(x + i);
      sum += v.x;
      sum += v.y;
      sum += v.z;
      sum += v.w;
    }
  }
  return sum;
}

template <typename T, uint BITS, uint M>
METAL_FUNC void multiply_line(Stored<true> kind, MSL_THREAD const Line<BITS>& line, MSL_CONSTANT pagoda_args::Scales& scales,
                              MSL_THREADGROUP const float* staged, float x_sums, uint chunk, MSL_THREAD float (&sums)[M]) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  constexpr uint TILES = kChunkTiles / GROUPS;
  float terms[2 * GROUPS];
  line_scales(line, scales, terms);
  const bool is_float = (scales.kind & kFloatCodes) != 0;

  for (uint g = 0; g < GROUPS; ++g) {
    float parts[M];

    for (uint m = 0; m < M; ++m) {
      parts[m] = 0.0f;
    }

    for (uint j = g * TILES; j < (g + 1) * TILES; ++j) {
      float codes[8];
      tile_codes(line, is_float, scales.zero, j, codes);
      multiply_numbers<M>(codes, staged + chunk * kChunk + 8 * j, parts);
    }

    for (uint m = 0; m < M; ++m) {
      sums[m] = fma(terms[g], parts[m], sums[m]);

      if ((scales.kind & kHasMins) != 0) {
        const float x_sum = simd_shuffle(x_sums, ushort((2 * m + chunk) * GROUPS + g));
        sums[m] = fma(terms[GROUPS + g], x_sum, sums[m]);
      }
    }
  }
}
