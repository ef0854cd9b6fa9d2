// matmul.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 22 "Shaders/matmul.h"
#include "device/gpu/generated/args_matmul.h"
#include "device/gpu/generated/tiles.h"

MSL_CONSTANT constexpr uint kRuns = 8;


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
# 48 "Shaders/matmul.h"
METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                           ulong at, uint columns, MSL_THREAD Share<16>& to) {
  MSL_DEVICE const uint* words = w + (uint(at / 2) + columns / 2);
  to.a = *(MSL_DEVICE const uint4*)(words);
  to.b = *(MSL_DEVICE const uint4*)(words + 4);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                           ulong at, uint columns, MSL_THREAD Share<8>& to) {
  to.a = *(MSL_DEVICE const uint4*)(w + (uint(at / 4) + columns / 4));
  to.shift = uint(((MSL_DEVICE const uchar*)(steps))[uint(at / 32) + columns / 32]);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                           ulong at, uint columns, MSL_THREAD Share<4>& to) {
  to.a = *(MSL_DEVICE const uint2*)(w + (uint(at / 8) + columns / 8));
  to.steps = uint(steps[uint(at / 32) + columns / 32]);
}

METAL_FUNC void share_words(MSL_THREAD const Share<16>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}
# 75 "Shaders/matmul.h"
METAL_FUNC uint pair_of_bytes(uint bytes, uint signs, uint unit) {
  return fma_bfloats(unit, 0xbf80bf80u, (bytes & 0x007f007fu) | unit) ^ (signs & 0x80008000u);
}

METAL_FUNC uint2 words_of_bytes(uint word, uint unit) {
  return uint2(pair_of_bytes(word, word << 8, unit), pair_of_bytes(word >> 8, word, unit));
}

METAL_FUNC void share_words(MSL_THREAD const Share<8>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD uint (&words)[kChunkTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(share.a.x, unit);
  const uint2 b = words_of_bytes(share.a.y, unit);
  const uint2 c = words_of_bytes(share.a.z, unit);
  const uint2 d = words_of_bytes(share.a.w, unit);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}
# 95 "Shaders/matmul.h"
struct NibbleTerms {
# 100 "Shaders/matmul.h"
  float step;
  float offset;

};

METAL_FUNC NibbleTerms nibble_terms(uint steps) {
  NibbleTerms terms;
# 112 "Shaders/matmul.h"
  terms.step = float(steps & 0xffu);
  terms.offset = fma(terms.step, -16.0f, float(steps >> 8) - 128.0f);

  return terms;
}
# 121 "Shaders/matmul.h"
METAL_FUNC uint pair_of_nibbles(uint nibbles, MSL_THREAD const NibbleTerms& terms) {
  const uint numbers = and_or(nibbles, 0x00780078u, 0x41804180u);
# 126 "Shaders/matmul.h"
  return pack_exact(fma(as_type<float>(numbers << 16), terms.step, terms.offset),
                    fma(as_type<float>(numbers & 0xffff0000u), terms.step, terms.offset));

}

METAL_FUNC void share_words(MSL_THREAD const Share<4>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD uint (&words)[kChunkTiles]) {
  const NibbleTerms terms = nibble_terms(share.steps);
  words[0] = pair_of_nibbles(share.a.x << 3, terms);
  words[4] = pair_of_nibbles(share.a.y << 3, terms);

  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_nibbles(share.a.x >> (4 * j - 3), terms);
    words[4 + j] = pair_of_nibbles(share.a.y >> (4 * j - 3), terms);
  }
}
# 145 "Shaders/matmul.h"
template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* w_steps, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD const ulong (&w_at)[RT], uint k0, uint end, MSL_THREAD Share<BITS> (&share)[AHEAD][RT]) {

  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);

    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, scales, w_at[i], k, share[u][i]);
    }
  }
}
# 160 "Shaders/matmul.h"
template <uint BITS>
METAL_FUNC uint x_column(uint lane) {
  return lane % 4 * (BITS > 200 ? 4 : BITS > 100 ? 8 : 16);
}

template <uint BITS>
METAL_FUNC void load_x(MSL_DEVICE const half* x, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_DEVICE const uint4*)(x), *(MSL_DEVICE const uint4*)(x + 8), words);
}

template <uint BITS>
METAL_FUNC void load_x(MSL_DEVICE const bfloat* x, MSL_THREAD uint (&words)[kChunkTiles]) {
  if (BITS > 200) {
    const uint2 a = *(MSL_DEVICE const uint2*)(x);
    const uint2 b = *(MSL_DEVICE const uint2*)(x + 16);
    const uint2 c = *(MSL_DEVICE const uint2*)(x + 32);
    const uint2 d = *(MSL_DEVICE const uint2*)(x + 48);
    set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
  } else {
    set_words(*(MSL_DEVICE const uint4*)(x), *(MSL_DEVICE const uint4*)(x + (BITS > 100 ? 32 : 8)), words);
  }
}

template <uint BITS>
METAL_FUNC void load_x(MSL_DEVICE const float* x, MSL_THREAD uint (&words)[kChunkTiles]) {

  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(MSL_DEVICE const float4*)(x + (BITS > 200 ? 16 * i : BITS > 100 ? i / 2 * 32 + i % 2 * 4 : 4 * i));
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}

METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}

METAL_FUNC void store_out(MSL_CONSTANT pagoda_args::Matmul& args, MSL_DEVICE float* out, uint m, uint column, float value) {
  const long at = long(m) * args.out_stride + column;
  out[at] = args.adds != 0 ? out[at] + value : value;
}
# 204 "Shaders/matmul.h"
METAL_FUNC uint weight_row(MSL_CONSTANT pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    const uint column = tile * (rows / 2) + r % (rows / 2);
    return (column < args.out_cols ? column : args.out_cols - 1) + r / (rows / 2) * args.out_cols;
  }
  const uint column = tile * rows + r;
  return column < args.out_cols ? column : args.out_cols - 1;
}


struct ColumnTerms {
  float scale;
  float bias;
  float other_scale;
  float other_bias;
};

METAL_FUNC ColumnTerms column_terms(MSL_CONSTANT pagoda_args::Matmul& args, MSL_DEVICE const float* w_scales,
                                    MSL_DEVICE const float* bias, uint column, bool is_scaled) {
  const uint own = min(column, args.out_cols - 1);
  const uint other = args.silu_mul != 0 ? args.out_cols + own : own;
  ColumnTerms terms;
  terms.scale = is_scaled ? w_scales[own] : 1.0f;
  terms.bias = args.has_bias != 0 ? bias[own] : 0.0f;
  terms.other_scale = is_scaled ? w_scales[other] : 1.0f;
  terms.other_bias = args.has_bias != 0 ? bias[other] : 0.0f;
  return terms;
}


METAL_FUNC float row_scale(MSL_DEVICE const float* x_scales, uint m, half) { return x_scales[m]; }
METAL_FUNC float row_scale(MSL_DEVICE const float* x_scales, uint m, bfloat) { return 1.0f; }


METAL_FUNC void write_out(MSL_CONSTANT pagoda_args::Matmul& args, MSL_THREAD const ColumnTerms& terms, float x_scale,
                          MSL_DEVICE float* out, uint m, uint column, float sum, float other) {
  float value = finish(sum, x_scale, terms.scale, terms.bias);
  if (args.silu_mul != 0) {
    value = silu(value) * finish(other, x_scale, terms.other_scale, terms.other_bias);
  }
  store_out(args, out, m, column, value);
}
