// matmul: out = x W^T + bias, or silu of its first half times the second.
//
// 16-bit, 8-bit and 4-bit weights meet activations rounded to 16 bits in 8x8 matrix products with float sums. An output
// is the sum of eight runs of columns, in order; within a run tiles.h says the order. That holds for any number of
// rows, so a row's bits do not depend on it. matmul_few takes up to 64 rows and gives each run to a simdgroup;
// matmul_tiles takes any number and goes through the runs one after the other. expert_few and expert_many do the same
// with rows of experts.
//
// Activations: matmul_rows_* makes [rows, padded_cols] of them, and a scale for each row. For bfloat weights they are
// bfloats, scale 1. Otherwise they are halfs, divided by a power of two so that none overflows; and rotated as the
// weights are where those are quantised. Numbers of 8 and 4 bits are whole and at most 128: halfs hold them exactly.
//
// matmul_few_made_* and matmul_rows_* make the activations themselves where they are a norm's or a gate's
// (row_source.h).
//
// Weights: rows in order, zeros after the last column and row. 8 bits: a byte each. 4 bits: a nibble each, low ones
// first, and a pair (step, offset) for every 32 columns. Both with a float scale for each row.
#pragma once

#include "args/matmul.h"
#include "tiles.h"

constant constexpr uint kRuns = 8;  // part of the result's bits

// A lane's share of a row of weights in one chunk, as it lies in memory: loads need not be waited for at once.
template <uint BITS>
struct Share;
template <>
struct Share<16> {
  uint4 a;
  uint4 b;
};
template <>
struct Share<8> {
  uint4 a;
};
template <>
struct Share<4> {
  uint2 a;
  uint steps;
};

// at: index of its first element in the matrix, a multiple of 16
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, ulong at, thread Share<16>& to) {
  to.a = *(device const uint4*)(w + at / 2);
  to.b = *(device const uint4*)(w + at / 2 + 4);
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, ulong at, thread Share<8>& to) {
  to.a = *(device const uint4*)(w + at / 4);
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, ulong at, thread Share<4>& to) {
  to.a = *(device const uint2*)(w + at / 8);
  to.steps = uint(steps[at / 32]);
}

METAL_FUNC void share_words(thread const Share<16>& share, thread uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}

// Byte i of a word of signed bytes: put behind 2^23 it is a float without a conversion.
METAL_FUNC float byte_of(uint flipped, uint i) {
  return as_type<float>((flipped >> (8 * i) & 0xffu) | 0x4b000000u) - 8388736.0f;
}

METAL_FUNC uint2 words_of_bytes(uint word) {
  const uint flipped = word ^ 0x80808080u;
  return uint2(pack_half(byte_of(flipped, 0), byte_of(flipped, 1)),
               pack_half(byte_of(flipped, 2), byte_of(flipped, 3)));
}

METAL_FUNC void share_words(thread const Share<8>& share, thread uint (&words)[kChunkTiles]) {
  const uint2 a = words_of_bytes(share.a.x);
  const uint2 b = words_of_bytes(share.a.y);
  const uint2 c = words_of_bytes(share.a.z);
  const uint2 d = words_of_bytes(share.a.w);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}

METAL_FUNC uint word_of_nibbles(uint word, uint i, uint steps) {
  const uint step = steps & 0xffu;
  const uint offset = steps >> 8;
  return pack_half(stepped_nibble(word, i, step, offset), stepped_nibble(word, i + 1, step, offset));
}

METAL_FUNC void share_words(thread const Share<4>& share, thread uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    words[j] = word_of_nibbles(share.a.x, 2 * j, share.steps);
    words[4 + j] = word_of_nibbles(share.a.y, 2 * j, share.steps);
  }
}

// The weights of AHEAD chunks from k0 on: all loads in flight at once. Past the end they are the last chunk again,
// unused.
template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(device const uint* w, device const ushort* w_steps, thread const ulong (&w_at)[RT], uint k0,
                            uint end, thread Share<BITS> (&share)[AHEAD][RT]) {
#pragma unroll
  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);
#pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, w_at[i] + k, share[u][i]);
    }
  }
}

// A lane's share of a row of activations.
METAL_FUNC void load_x(device const half* x, thread uint (&words)[kChunkTiles]) {
  set_words(*(device const uint4*)(x), *(device const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(device const bfloat* x, thread uint (&words)[kChunkTiles]) {
  set_words(*(device const uint4*)(x), *(device const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(device const float* x, thread uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(device const float4*)(x + 4 * i);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}

METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}

METAL_FUNC void store_out(constant pagoda_args::Matmul& args, device float* out, uint m, uint column, float value) {
  const long at = long(m) * args.out_stride + column;
  out[at] = args.adds != 0 ? out[at] + value : value;
}

// Row r of the threadgroup's 8 RT rows of weights: neighbours, or with silu_mul a gate's in the first half and those of
// its other factor in the second. Past the last it is that one again, whose products are not used.
METAL_FUNC uint weight_row(constant pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    const uint column = tile * (rows / 2) + r % (rows / 2);
    return (column < args.out_cols ? column : args.out_cols - 1) + r / (rows / 2) * args.out_cols;
  }
  const uint column = tile * rows + r;
  return column < args.out_cols ? column : args.out_cols - 1;
}

// Writes output (m, column of row r) from the sums of that row and, with silu_mul, of its other factor.
METAL_FUNC void write_out(constant pagoda_args::Matmul& args, device const float* x_scales,
                          device const float* w_scales, device const float* bias, device float* out, uint m,
                          uint column, float sum, float other, bool is_prepared, bool is_scaled) {
  const float x_scale = is_prepared ? x_scales[m] : 1.0f;
  float value = finish(sum, x_scale, is_scaled ? w_scales[column] : 1.0f, args.has_bias != 0 ? bias[column] : 0.0f);
  if (args.silu_mul != 0) {
    const uint at = args.out_cols + column;
    value = silu(value) * finish(other, x_scale, is_scaled ? w_scales[at] : 1.0f, args.has_bias != 0 ? bias[at] : 0.0f);
  }
  store_out(args, out, m, column, value);
}
