// Products in single lanes: a lane has a row of weights and adds its columns one after another, each with a fused
// multiply-add, in the order in which 8x8 products take them (tiles.h). Where a matrix unit adds like this, the bits
// are those of matmul_few and expert_few; device/trial/scalar_trial.h finds out. stored_scalar.h has the formats of
// files.
#pragma once

#include "stored.h"

constant constexpr uint kScalarRows = 32;      // of weights, per threadgroup: one per lane
constant constexpr uint kStaged = 2 * kChunk;  // columns of x that a simdgroup has in threadgroup memory

// A row of weights in one chunk, as stored in memory.
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

// at: index of its first element in the matrix, a multiple of 64
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<16>& to) {
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 2 + 4 * i);
  }
}

METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<8>& to) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 4 + 4 * i);
  }
  to.shifts = uint(steps[at / 64]);
}

METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<4>& to) {
  to.a[0] = *(device const uint4*)(w + at / 8);
  to.a[1] = *(device const uint4*)(w + at / 8 + 4);
  to.steps = ((device const uint*)(steps))[at / 64];
}

// What the two groups of 32 columns of a chunk need to become numbers.
template <uint BITS>
struct LineTerms;
template <>
struct LineTerms<16> {};
// 2^(23 - b) times the group's power of two, for bytes at bit b = 0, 8 and 16 of a word.
template <>
struct LineTerms<8> {
  float base[2][3];
};
// The step, and offset - step * 2^(23 - b) for nibbles at bit b = 8, 12 and 16: floats hold it exactly from b = 7 on.
template <>
struct LineTerms<4> {
  float step[2];
  float base[2][3];
};

METAL_FUNC void line_terms(thread const Line<16>& line, thread LineTerms<16>& terms) {}

METAL_FUNC void line_terms(thread const Line<8>& line, thread LineTerms<8>& terms) {
#pragma unroll
  for (uint g = 0; g < 2; ++g) {
    const uint shift = line.shifts >> (8 * g) & 0xffu;
#pragma unroll
    for (uint i = 0; i < 3; ++i) {
      terms.base[g][i] = as_type<float>((150u - 8 * i - shift) << 23);
    }
  }
}

METAL_FUNC void line_terms(thread const Line<4>& line, thread LineTerms<4>& terms) {
#pragma unroll
  for (uint g = 0; g < 2; ++g) {
    const uint steps = line.steps >> (16 * g);
    const float offset = float(steps >> 8 & 0xffu) - 128.0f;
    terms.step[g] = float(steps & 0xffu);
#pragma unroll
    for (uint i = 0; i < 3; ++i) {
      terms.base[g][i] = fma(terms.step[g], -as_type<float>((142u - 4 * i) << 23), offset);
    }
  }
}

// Tile j of a chunk: the columns 16 q + 2 j and 16 q + 2 j + 1 of all q < 4, in this order.
METAL_FUNC void tile_numbers(thread const Line<16>& line, thread const LineTerms<16>& terms, uint j, bfloat,
                             thread float (&numbers)[8]) {
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[2 * q + j / 4][j % 4];
    numbers[2 * q] = as_type<float>(word << 16);
    numbers[2 * q + 1] = as_type<float>(word & 0xffff0000u);
  }
}

METAL_FUNC void tile_numbers(thread const Line<16>& line, thread const LineTerms<16>& terms, uint j, half,
                             thread float (&numbers)[8]) {
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[2 * q + j / 4][j % 4];
    numbers[2 * q] = float(as_type<half>(ushort(word & 0xffffu)));
    numbers[2 * q + 1] = float(as_type<half>(ushort(word >> 16)));
  }
}

// The magnitude at bit b of `word` becomes the low part of a float without a shift and a conversion. sign: the byte at
// the top
METAL_FUNC float byte_number(uint word, uint b, uint sign, float base) {
  const float magnitude = as_type<float>((word & (127u << b)) | as_type<uint>(base)) - base;
  return as_type<float>(as_type<uint>(magnitude) | (sign & 0x80000000u));
}

METAL_FUNC void tile_numbers(thread const Line<8>& line, thread const LineTerms<8>& terms, uint j, bfloat,
                             thread float (&numbers)[8]) {
#pragma unroll
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

// The nibble at bit b of `word`, likewise, times step plus offset.
METAL_FUNC float nibble_number(uint word, uint b, float step, float base) {
  return fma(as_type<float>((word & (15u << b)) | ((150u - b) << 23)), step, base);
}

// Of a row's nibbles in a chunk. step, base: of both groups of 32 columns, as in LineTerms<4>
template <uint BITS>
METAL_FUNC void nibble_numbers(thread const Line<BITS>& line, thread const float (&step)[2],
                               thread const float (&base)[2][3], uint j, thread float (&numbers)[8]) {
  const uint first = j % 2;             // nibbles 0 and 1 move to the bits 8 and 12, where 2 and 3 are,
  const uint second = (j % 4 + 2) % 3;  // and 5 to 7 to the bits 8 to 16; 4 is at 16
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[q / 2][q % 2 * 2 + j / 4];
    numbers[2 * q] = nibble_number(j % 4 < 2 ? word << 8 : word, 8 + 4 * first, step[q / 2], base[q / 2][first]);
    numbers[2 * q + 1] =
        nibble_number(j % 4 == 0 ? word : word >> 12, 8 + 4 * second, step[q / 2], base[q / 2][second]);
  }
}

METAL_FUNC void tile_numbers(thread const Line<4>& line, thread const LineTerms<4>& terms, uint j, bfloat,
                             thread float (&numbers)[8]) {
  nibble_numbers<4>(line, terms.step, terms.base, j, numbers);
}

// Four adjacent activations as the numbers that products take.
METAL_FUNC float4 rounded(float4 v) {
  return float4(float(bfloat(v.x)), float(bfloat(v.y)), float(bfloat(v.z)), float(bfloat(v.w)));
}

METAL_FUNC float4 load_quad(device const float* x) { return rounded(*(device const float4*)(x)); }

METAL_FUNC float4 load_quad(device const half* x) {
  const uint2 words = *(device const uint2*)(x);
  return float4(float(as_type<half>(ushort(words.x & 0xffffu))), float(as_type<half>(ushort(words.x >> 16))),
                float(as_type<half>(ushort(words.y & 0xffffu))), float(as_type<half>(ushort(words.y >> 16))));
}

// Where a lane's four columns begin among those that its simdgroup stages, at k0 or, past the end, in the last chunk.
METAL_FUNC uint staged_column(uint k0, uint end, uint lane) {
  return min(k0 + lane / 16 * kChunk, end - kChunk) + lane % 16 * 4;
}

// Stores a lane's columns in the order in which tiles of weights of a format take them. to: a row of kStaged floats
template <uint BITS>
METAL_FUNC void stage_quad(float4 v, threadgroup float* to, uint lane) {
  const uint i = lane % 16;
  const uint at = BITS > 200   ? i / 4 * 16 + i % 4 * 2
                  : BITS > 100 ? i / 8 * 32 + i % 2 * 16 + i % 8 / 2 * 2
                               : i % 4 * 16 + i / 4 * 2;
  *(threadgroup float2*)(to + lane / 16 * kChunk + at) = float2(v.x, v.y);
  *(threadgroup float2*)(to + lane / 16 * kChunk + at + 8) = float2(v.z, v.w);
}

// sums[m] += one tile's numbers times its columns in row m of x. x: [M][kStaged]
template <uint M>
METAL_FUNC void multiply_numbers(thread const float (&numbers)[8], threadgroup const float* x,
                                 thread float (&sums)[M]) {
#pragma unroll
  for (uint m = 0; m < M; ++m) {
    const float4 a = *(threadgroup const float4*)(x + m * kStaged);
    const float4 b = *(threadgroup const float4*)(x + m * kStaged + 4);
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

// What stored formats with minima need of the staged rows besides their columns; nothing here.
template <uint BITS, uint M>
METAL_FUNC float staged_sums(Stored<false> kind, constant pagoda_args::Scales& scales, threadgroup const float* staged,
                             uint lane) {
  return 0.0f;
}

// sums[m] += the line's numbers times row m of x. staged: all rows, [M][kStaged]; chunk: the line's, 0 or 1
template <typename T, uint BITS, uint M>
METAL_FUNC void multiply_line(Stored<false> kind, thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                              threadgroup const float* staged, float x_sums, uint chunk, thread float (&sums)[M]) {
  LineTerms<BITS> terms;
  line_terms(line, terms);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    float numbers[8];
    tile_numbers(line, terms, j, T(0.0f), numbers);
    multiply_numbers<M>(numbers, staged + chunk * kChunk + 8 * j, sums);
  }
}
