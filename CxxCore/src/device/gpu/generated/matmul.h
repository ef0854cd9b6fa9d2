// matmul.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 20 "Shaders/matmul.h"
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
};
template <>
struct Share<4> {
  uint2 a;
  uint steps;
};


METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<16>& to) {
  to.a = *(MSL_DEVICE const uint4*)(w + at / 2);
  to.b = *(MSL_DEVICE const uint4*)(w + at / 2 + 4);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<8>& to) {
  to.a = *(MSL_DEVICE const uint4*)(w + at / 4);
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at, MSL_THREAD Share<4>& to) {
  to.a = *(MSL_DEVICE const uint2*)(w + at / 8);
  to.steps = uint(steps[at / 32]);
}

METAL_FUNC void share_words(MSL_THREAD const Share<16>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}


METAL_FUNC float byte_of(uint flipped, uint i) {
  return as_type<float>((flipped >> (8 * i) & 0xffu) | 0x4b000000u) - 8388736.0f;
}

METAL_FUNC uint2 words_of_bytes(uint word) {
  const uint flipped = word ^ 0x80808080u;
  return uint2(pack_half(byte_of(flipped, 0), byte_of(flipped, 1)),
               pack_half(byte_of(flipped, 2), byte_of(flipped, 3)));
}

METAL_FUNC void share_words(MSL_THREAD const Share<8>& share, MSL_THREAD uint (&words)[kChunkTiles]) {
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

METAL_FUNC void share_words(MSL_THREAD const Share<4>& share, MSL_THREAD uint (&words)[kChunkTiles]) {

  for (uint j = 0; j < 4; ++j) {
    words[j] = word_of_nibbles(share.a.x, 2 * j, share.steps);
    words[4 + j] = word_of_nibbles(share.a.y, 2 * j, share.steps);
  }
}
# 97 "Shaders/matmul.h"
template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* w_steps, MSL_THREAD const ulong (&w_at)[RT], uint k0,
                            uint end, MSL_THREAD Share<BITS> (&share)[AHEAD][RT]) {

  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);

    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, w_at[i] + k, share[u][i]);
    }
  }
}


METAL_FUNC void load_x(MSL_DEVICE const half* x, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_DEVICE const uint4*)(x), *(MSL_DEVICE const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(MSL_DEVICE const bfloat* x, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_DEVICE const uint4*)(x), *(MSL_DEVICE const uint4*)(x + 8), words);
}

METAL_FUNC void load_x(MSL_DEVICE const float* x, MSL_THREAD uint (&words)[kChunkTiles]) {

  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(MSL_DEVICE const float4*)(x + 4 * i);
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
# 139 "Shaders/matmul.h"
METAL_FUNC uint weight_row(MSL_CONSTANT pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    const uint column = tile * (rows / 2) + r % (rows / 2);
    return (column < args.out_cols ? column : args.out_cols - 1) + r / (rows / 2) * args.out_cols;
  }
  const uint column = tile * rows + r;
  return column < args.out_cols ? column : args.out_cols - 1;
}


METAL_FUNC void write_out(MSL_CONSTANT pagoda_args::Matmul& args, MSL_DEVICE const float* x_scales,
                          MSL_DEVICE const float* w_scales, MSL_DEVICE const float* bias, MSL_DEVICE float* out, uint m,
                          uint column, float sum, float other, bool is_prepared, bool is_scaled) {
  const float x_scale = is_prepared ? x_scales[m] : 1.0f;
  float value = finish(sum, x_scale, is_scaled ? w_scales[column] : 1.0f, args.has_bias != 0 ? bias[column] : 0.0f);
  if (args.silu_mul != 0) {
    const uint at = args.out_cols + column;
    value = silu(value) * finish(other, x_scale, is_scaled ? w_scales[at] : 1.0f, args.has_bias != 0 ? bias[at] : 0.0f);
  }
  store_out(args, out, m, column, value);
}
