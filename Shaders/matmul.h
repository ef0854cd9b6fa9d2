// matmul: out = x W^T + bias, or silu of its first half times the second.
//
// 16-bit, 8-bit and 4-bit weights are multiplied by activations rounded to 16 bits, in 8x8 matrix products with float
// sums. An output is the sum of eight runs of columns, in order; tiles.h gives the order within a run. The order is the
// same for any number of rows, so a row's bits do not depend on it. matmul_few takes up to 64 rows and gives each run
// to a simdgroup; matmul_tiles takes any number and processes the runs one after another. expert_few and expert_many do
// the same with rows of experts.
//
// Activations: matmul_rows_* writes them as [rows, padded_cols], with a scale for each row. For half weights they are
// halfs, divided by a power of two so that none overflows. Otherwise they are bfloats with scale 1: the numbers that 8
// and 4 bits represent have at most 8 significant bits, which bfloats hold exactly.
//
// If the activations are the output of a norm or a gate, matmul_few_made_* and matmul_rows_* compute them themselves
// (row_source.h).
//
// Weights: rows in order, zeros after the last column and row. 8 bits: one byte each, sign and magnitude, four columns
// in the order 0, 2, 1, 3, and a shift (one byte) per 32 columns. 4 bits: one nibble each, low nibbles first, eight
// columns in the order 0, 2, 4, 6, 1, 3, 5, 7, and a pair (step, offset) per 32 columns. Both have a float scale per
// row. In this order one mask extracts two neighbours from a word at once. stored.h describes the formats of files.
#pragma once

#include "args/matmul.h"
#include "tiles.h"

constant constexpr uint kRuns = 8;  // affects result bits

// A lane's share of a row of weights in one chunk, as stored in memory: it can be loaded well before it is unpacked.
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
  uint shift;
};
template <>
struct Share<4> {
  uint2 a;
  uint steps;
};

// at: index of an element in the matrix, a multiple of 16; columns: from there to the share's first, a multiple of 64.
// A matrix has fewer than 2^32 words: sums of 32 bits take a quarter of the instructions.
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong at, uint columns, thread Share<16>& to) {
  device const uint* words = w + (uint(at / 2) + columns / 2);
  to.a = *(device const uint4*)(words);
  to.b = *(device const uint4*)(words + 4);
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong at, uint columns, thread Share<8>& to) {
  to.a = *(device const uint4*)(w + (uint(at / 4) + columns / 4));
  to.shift = uint(((device const uchar*)(steps))[uint(at / 32) + columns / 32]);
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong at, uint columns, thread Share<4>& to) {
  to.a = *(device const uint2*)(w + (uint(at / 8) + columns / 8));
  to.steps = uint(steps[uint(at / 32) + columns / 32]);
}

METAL_FUNC void share_words(thread const Share<16>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}

// Two bytes, bits 0 to 7 and 16 to 23 of `bytes`, times a power of two `unit` (the same bfloat twice, 128 times that
// power): below the leading bit of `unit`, a magnitude becomes a bfloat without a conversion. signs: the sign bits of
// both bfloats.
METAL_FUNC uint pair_of_bytes(uint bytes, uint signs, uint unit) {
  return fma_bfloats(unit, 0xbf80bf80u, (bytes & 0x007f007fu) | unit) ^ (signs & 0x80008000u);
}

METAL_FUNC uint2 words_of_bytes(uint word, uint unit) {
  return uint2(pair_of_bytes(word, word << 8, unit), pair_of_bytes(word >> 8, word, unit));
}

METAL_FUNC void share_words(thread const Share<8>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(share.a.x, unit);
  const uint2 b = words_of_bytes(share.a.y, unit);
  const uint2 c = words_of_bytes(share.a.z, unit);
  const uint2 d = words_of_bytes(share.a.w, unit);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}

// Step and offset of a group of 4-bit weights, as pair_of_nibbles takes them: each twice as a bfloat where a machine
// multiplies bfloats in pairs; elsewhere as floats, with the 16 of pair_of_nibbles already subtracted.
struct NibbleTerms {
#ifdef __MSL_PAIRED_MMA__
  uint step;
  uint offset;
#else
  float step;
  float offset;
#endif
};

METAL_FUNC NibbleTerms nibble_terms(uint steps) {
  NibbleTerms terms;
#ifdef __MSL_PAIRED_MMA__
  // Bytes as the last bits of 2^23 + step and of 2^23 + 256 (offset + 128): without a conversion.
  terms.step = msl_twice(as_type<float>(and_or(steps, 0xffu, 0x4b000000u)) - 8388608.0f);
  terms.offset = msl_twice(fma(as_type<float>(and_or(steps, 0xff00u, 0x4b000000u)), 1.0f / 256.0f, -32896.0f));
#else
  terms.step = float(steps & 0xffu);
  terms.offset = fma(terms.step, -16.0f, float(steps >> 8) - 128.0f);
#endif
  return terms;
}

// Two nibbles, bits 3 to 6 and 19 to 22 of `nibbles`: each becomes the bfloat 16 + nibble, and from it nibble * step +
// offset, which a bfloat holds exactly. As floats that takes one fused product per weight: 16 * step has too many bits
// for a bfloat, but not for a float.
METAL_FUNC uint pair_of_nibbles(uint nibbles, thread const NibbleTerms& terms) {
  const uint numbers = and_or(nibbles, 0x00780078u, 0x41804180u);
#ifdef __MSL_PAIRED_MMA__
  return fma_bfloats(fma_bfloats(0x3f803f80u, 0xc180c180u, numbers), terms.step, terms.offset);
#else
  return pack_exact(fma(as_type<float>(numbers << 16), terms.step, terms.offset),
                    fma(as_type<float>(numbers & 0xffff0000u), terms.step, terms.offset));
#endif
}

METAL_FUNC void share_words(thread const Share<4>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const NibbleTerms terms = nibble_terms(share.steps);
  words[0] = pair_of_nibbles(share.a.x << 3, terms);
  words[4] = pair_of_nibbles(share.a.y << 3, terms);
#pragma unroll
  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_nibbles(share.a.x >> (4 * j - 3), terms);
    words[4 + j] = pair_of_nibbles(share.a.y >> (4 * j - 3), terms);
  }
}

// Loads the weights of AHEAD chunks starting at k0, with all loads in flight at once. Past the end the last chunk is
// repeated and unused.
template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(device const uint* w, device const ushort* w_steps, constant pagoda_args::Scales& scales,
                            thread const ulong (&w_at)[RT], uint k0, uint end, thread Share<BITS> (&share)[AHEAD][RT]) {
#pragma unroll
  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);
#pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, scales, w_at[i], k, share[u][i]);
    }
  }
}

// Where a lane's share of a row of activations begins in a chunk. Its columns are 16 adjacent ones, or with a stored
// format a quarter of each group.
template <uint BITS>
METAL_FUNC uint x_column(uint lane) {
  return lane % 4 * (BITS > 200 ? 4 : BITS > 100 ? 8 : 16);
}

template <uint BITS>
METAL_FUNC void load_x(device const half* x, thread uint (&words)[kChunkTiles]) {
  set_words(*(device const uint4*)(x), *(device const uint4*)(x + 8), words);
}

template <uint BITS>
METAL_FUNC void load_x(device const bfloat* x, thread uint (&words)[kChunkTiles]) {
  if (BITS > 200) {
    const uint2 a = *(device const uint2*)(x);
    const uint2 b = *(device const uint2*)(x + 16);
    const uint2 c = *(device const uint2*)(x + 32);
    const uint2 d = *(device const uint2*)(x + 48);
    set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
  } else {
    set_words(*(device const uint4*)(x), *(device const uint4*)(x + (BITS > 100 ? 32 : 8)), words);
  }
}

template <uint BITS>
METAL_FUNC void load_x(device const float* x, thread uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(device const float4*)(x + (BITS > 200 ? 16 * i : BITS > 100 ? i / 2 * 32 + i % 2 * 4 : 4 * i));
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

// Row r of the threadgroup's 8 RT rows of weights: adjacent rows, or with silu_mul rows of the gate in the first half
// and those of its other factor in the second. Rows past the last repeat it; their products are unused.
METAL_FUNC uint weight_row(constant pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    const uint column = tile * (rows / 2) + r % (rows / 2);
    return (column < args.out_cols ? column : args.out_cols - 1) + r / (rows / 2) * args.out_cols;
  }
  const uint column = tile * rows + r;
  return column < args.out_cols ? column : args.out_cols - 1;
}

// Factors and bias of a column's sums; `other` is for silu_mul.
struct ColumnTerms {
  float scale;
  float bias;
  float other_scale;
  float other_bias;
};

METAL_FUNC ColumnTerms column_terms(constant pagoda_args::Matmul& args, device const float* w_scales,
                                    device const float* bias, uint column, bool is_scaled) {
  const uint own = min(column, args.out_cols - 1);
  const uint other = args.silu_mul != 0 ? args.out_cols + own : own;
  ColumnTerms terms;
  terms.scale = is_scaled ? w_scales[own] : 1.0f;
  terms.bias = args.has_bias != 0 ? bias[own] : 0.0f;
  terms.other_scale = is_scaled ? w_scales[other] : 1.0f;
  terms.other_bias = args.has_bias != 0 ? bias[other] : 0.0f;
  return terms;
}

// Halfs have a scale per row, bfloats have none.
METAL_FUNC float row_scale(device const float* x_scales, uint m, half) { return x_scales[m]; }
METAL_FUNC float row_scale(device const float* x_scales, uint m, bfloat) { return 1.0f; }

// Writes output (m, column) from the sums of that column and, with silu_mul, of its other factor.
METAL_FUNC void write_out(constant pagoda_args::Matmul& args, thread const ColumnTerms& terms, float x_scale,
                          device float* out, uint m, uint column, float sum, float other) {
  float value = finish(sum, x_scale, terms.scale, terms.bias);
  if (args.silu_mul != 0) {
    value = silu(value) * finish(other, x_scale, terms.other_scale, terms.other_bias);
  }
  store_out(args, out, m, column, value);
}
