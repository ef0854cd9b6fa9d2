// scalar.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 7 "Shaders/scalar.h"
#include "device/gpu/generated/stored.h"

MSL_CONSTANT constexpr uint kScalarRows = 32;
MSL_CONSTANT constexpr uint kStaged = 2 * kChunk;


template <uint BITS>
struct Line;
template <>
struct Line<16> {
  uint4 a[8];
};
template <>
struct Line<8> {
  uint4 a[4];
  uint shifts;
};
template <>
struct Line<4> {
  uint4 a[2];
  uint steps;
};


METAL_FUNC void load_line(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, MSL_THREAD Line<16>& to) {

  for (uint i = 0; i < 8; ++i) {
    to.a[i] = *(MSL_DEVICE const uint4*)(w + at / 2 + 4 * i);
  }
}

METAL_FUNC void load_line(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, MSL_THREAD Line<8>& to) {

  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(MSL_DEVICE const uint4*)(w + at / 4 + 4 * i);
  }
  to.shifts = uint(steps[at / 64]);
}

METAL_FUNC void load_line(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, MSL_THREAD Line<4>& to) {
  to.a[0] = *(MSL_DEVICE const uint4*)(w + at / 8);
  to.a[1] = *(MSL_DEVICE const uint4*)(w + at / 8 + 4);
  to.steps = ((MSL_DEVICE const uint*)(steps))[at / 64];
}


template <uint BITS>
struct LineTerms;
template <>
struct LineTerms<16> {};

template <>
struct LineTerms<8> {
  float base[2][3];
};

template <>
struct LineTerms<4> {
  float step[2];
  float base[2][3];
};

METAL_FUNC void line_terms(MSL_THREAD const Line<16>& line, MSL_THREAD LineTerms<16>& terms) {}

METAL_FUNC void line_terms(MSL_THREAD const Line<8>& line, MSL_THREAD LineTerms<8>& terms) {

  for (uint g = 0; g < 2; ++g) {
    const uint shift = line.shifts >> (8 * g) & 0xffu;

    for (uint i = 0; i < 3; ++i) {
      terms.base[g][i] = as_type<float>((150u - 8 * i - shift) << 23);
    }
  }
}

METAL_FUNC void line_terms(MSL_THREAD const Line<4>& line, MSL_THREAD LineTerms<4>& terms) {

  for (uint g = 0; g < 2; ++g) {
    const uint steps = line.steps >> (16 * g);
    const float offset = float(steps >> 8 & 0xffu) - 128.0f;
    terms.step[g] = float(steps & 0xffu);

    for (uint i = 0; i < 3; ++i) {
      terms.base[g][i] = fma(terms.step[g], -as_type<float>((142u - 4 * i) << 23), offset);
    }
  }
}


METAL_FUNC void tile_numbers(MSL_THREAD const Line<16>& line, MSL_THREAD const LineTerms<16>& terms, uint j, bfloat,
                             MSL_THREAD float (&numbers)[8]) {

  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[2 * q + j / 4][j % 4];
    numbers[2 * q] = as_type<float>(word << 16);
    numbers[2 * q + 1] = as_type<float>(word & 0xffff0000u);
  }
}

METAL_FUNC void tile_numbers(MSL_THREAD const Line<16>& line, MSL_THREAD const LineTerms<16>& terms, uint j, half,
                             MSL_THREAD float (&numbers)[8]) {

  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[2 * q + j / 4][j % 4];
    numbers[2 * q] = float(as_type<half>(ushort(word & 0xffffu)));
    numbers[2 * q + 1] = float(as_type<half>(ushort(word >> 16)));
  }
}
# 121 "Shaders/scalar.h"
METAL_FUNC float byte_number(uint word, uint b, uint sign, float base) {
  const float magnitude = as_type<float>((word & (127u << b)) | as_type<uint>(base)) - base;
  return as_type<float>(as_type<uint>(magnitude) | (sign & 0x80000000u));
}

METAL_FUNC void tile_numbers(MSL_THREAD const Line<8>& line, MSL_THREAD const LineTerms<8>& terms, uint j, bfloat,
                             MSL_THREAD float (&numbers)[8]) {

  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[q][j / 2];
    if (j % 2 == 0) {
      numbers[2 * q] = byte_number(word, 0, word << 24, terms.base[q / 2][0]);
      numbers[2 * q + 1] = byte_number(word, 16, word << 8, terms.base[q / 2][2]);
    } else {
      numbers[2 * q] = byte_number(word, 8, word << 16, terms.base[q / 2][1]);
      numbers[2 * q + 1] = byte_number(word >> 8, 16, word, terms.base[q / 2][2]);
    }
  }
}


METAL_FUNC float nibble_number(uint word, uint b, float step, float base) {
  return fma(as_type<float>((word & (15u << b)) | ((150u - b) << 23)), step, base);
}


template <uint BITS>
METAL_FUNC void nibble_numbers(MSL_THREAD const Line<BITS>& line, MSL_THREAD const float (&step)[2],
                               MSL_THREAD const float (&base)[2][3], uint j, MSL_THREAD float (&numbers)[8]) {
  const uint first = j % 2;
  const uint second = (j % 4 + 2) % 3;

  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[q / 2][q % 2 * 2 + j / 4];
    numbers[2 * q] = nibble_number(j % 4 < 2 ? word << 8 : word, 8 + 4 * first, step[q / 2], base[q / 2][first]);
    numbers[2 * q + 1] =
        nibble_number(j % 4 == 0 ? word : word >> 12, 8 + 4 * second, step[q / 2], base[q / 2][second]);
  }
}

METAL_FUNC void tile_numbers(MSL_THREAD const Line<4>& line, MSL_THREAD const LineTerms<4>& terms, uint j, bfloat,
                             MSL_THREAD float (&numbers)[8]) {
  nibble_numbers<4>(line, terms.step, terms.base, j, numbers);
}


METAL_FUNC float4 rounded(float4 v) {
  return float4(float(bfloat(v.x)), float(bfloat(v.y)), float(bfloat(v.z)), float(bfloat(v.w)));
}

METAL_FUNC float4 load_quad(MSL_DEVICE const float* x) { return rounded(*(MSL_DEVICE const float4*)(x)); }

METAL_FUNC float4 load_quad(MSL_DEVICE const half* x) {
  const uint2 words = *(MSL_DEVICE const uint2*)(x);
  return float4(float(as_type<half>(ushort(words.x & 0xffffu))), float(as_type<half>(ushort(words.x >> 16))),
                float(as_type<half>(ushort(words.y & 0xffffu))), float(as_type<half>(ushort(words.y >> 16))));
}


METAL_FUNC uint staged_column(uint k0, uint end, uint lane) {
  return min(k0 + lane / 16 * kChunk, end - kChunk) + lane % 16 * 4;
}


template <uint BITS>
METAL_FUNC void stage_quad(float4 v, MSL_THREADGROUP float* to, uint lane) {
  const uint i = lane % 16;
  const uint at = BITS > 200 ? i / 4 * 16 + i % 4 * 2
                  : BITS > 100 ? i / 8 * 32 + i % 2 * 16 + i % 8 / 2 * 2
                               : i % 4 * 16 + i / 4 * 2;
  *(MSL_THREADGROUP float2*)(to + lane / 16 * kChunk + at) = float2(v.x, v.y);
  *(MSL_THREADGROUP float2*)(to + lane / 16 * kChunk + at + 8) = float2(v.z, v.w);
}


template <uint M>
METAL_FUNC void multiply_numbers(MSL_THREAD const float (&numbers)[8], MSL_THREADGROUP const float* x,
                                 MSL_THREAD float (&sums)[M]) {

  for (uint m = 0; m < M; ++m) {
    const float4 a = *(MSL_THREADGROUP const float4*)(x + m * kStaged);
    const float4 b = *(MSL_THREADGROUP const float4*)(x + m * kStaged + 4);
    sums[m] = fma(numbers[0], a.x, sums[m]);
    sums[m] = fma(numbers[1], a.y, sums[m]);
    sums[m] = fma(numbers[2], a.z, sums[m]);
    sums[m] = fma(numbers[3], a.w, sums[m]);
    sums[m] = fma(numbers[4], b.x, sums[m]);
    sums[m] = fma(numbers[5], b.y, sums[m]);
    sums[m] = fma(numbers[6], b.z, sums[m]);
    sums[m] = fma(numbers[7], b.w, sums[m]);
  }
}


template <uint BITS, uint M>
METAL_FUNC float staged_sums(Stored<false> kind, MSL_CONSTANT pagoda_args::Scales& scales, MSL_THREADGROUP const float* staged,
                             uint lane) {
  return 0.0f;
}


template <typename T, uint BITS, uint M>
METAL_FUNC void multiply_line(Stored<false> kind, MSL_THREAD const Line<BITS>& line, MSL_CONSTANT pagoda_args::Scales& scales,
                              MSL_THREADGROUP const float* staged, float x_sums, uint chunk, MSL_THREAD float (&sums)[M]) {
  LineTerms<BITS> terms;
  line_terms(line, terms);

  for (uint j = 0; j < kChunkTiles; ++j) {
    float numbers[8];
    tile_numbers(line, terms, j, T(0.0f), numbers);
    multiply_numbers<M>(numbers, staged + chunk * kChunk + 8 * j, sums);
  }
}
