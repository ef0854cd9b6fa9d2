// matmul_few.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/matmul_few.metal"
# 1 "Shaders/matmul_few.metal"

# 1 "Shaders/matmul.h"
# 19 "Shaders/matmul.h"
# 1 "Shaders/args/matmul.h"



# 1 "Shaders/args/row_source.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/row_source.h"

namespace pagoda_args {



struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;
  uint kind;
  uint heads;
  uint dim;
  float eps;
  float weight_offset;
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");

}
# 5 "Shaders/args/matmul.h"


namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint block;
  uint reserved;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");

struct Matmul {
  long x_stride;
  long out_stride;
  uint rows;
  uint cols;
  uint out_cols;
  uint padded_cols;
  uint run;
  uint has_bias;
  uint silu_mul;
  uint adds;
  RowSource source;
};
static_assert(sizeof(Matmul) == 96, "host and kernel agree");

}
# 20 "Shaders/matmul.h"
# 1 "Shaders/tiles.h"







# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {

  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < num_simdgroups); ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; MSL_LOOP(stride < block); stride *= 2) {
    for (uint i = tid; MSL_LOOP(i < block / 2); i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {

  for (uint j = 0; j < C; ++j) {








    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }

  }
}
# 9 "Shaders/tiles.h"

MSL_CONSTANT constexpr uint kChunk = 64;
MSL_CONSTANT constexpr uint kChunkTiles = 8;
MSL_CONSTANT constexpr uint kTileScratch = 2 * kChunkTiles * 32;

typedef simdgroup_matrix<float, 8, 8> SumTile;


METAL_FUNC uint pack_half(float first, float second) {



  return uint(as_type<ushort>(half(first))) | uint(as_type<ushort>(half(second))) << 16;

}

METAL_FUNC uint pack_bfloat(float first, float second) {



  return uint(as_type<ushort>(bfloat(first))) | uint(as_type<ushort>(bfloat(second))) << 16;

}

METAL_FUNC void set_words(uint4 a, uint4 b, MSL_THREAD uint (&words)[kChunkTiles]) {
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
  words[4] = b.x;
  words[5] = b.y;
  words[6] = b.z;
  words[7] = b.w;
}


template <typename T, bool TRANSPOSED>
METAL_FUNC void make_tiles(MSL_THREAD const uint (&words)[kChunkTiles],
                           MSL_THREAD simdgroup_matrix<T, 8, 8> (&tiles)[kChunkTiles], MSL_THREADGROUP uint* scratch,
                           uint lane) {








  for (uint j = 0; j < kChunkTiles; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  for (uint j = 0; j < kChunkTiles; ++j) {
    simdgroup_load(tiles[j], (MSL_THREADGROUP const T*)(scratch + j * 32), 8, ulong2(0, 0), TRANSPOSED);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

}


template <typename T, uint R, uint M>
METAL_FUNC void chunk_multiply(MSL_THREAD SumTile (&acc)[R][M], MSL_THREAD const uint (&w)[R][kChunkTiles],
                               MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_THREADGROUP uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[R][kChunkTiles];

  for (uint i = 0; i < R; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }

  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch + kTileScratch / 2, lane);
# 94 "Shaders/tiles.h"

    for (uint i = 0; i < R; ++i) {

      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[i][t], left[i][j], right[j], acc[i][t]);
      }
    }

  }
}


METAL_FUNC void move_sum(MSL_THREAD SumTile& total, MSL_THREAD SumTile& part, MSL_THREADGROUP uint* scratch, uint lane) {



  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(scratch);
  simdgroup_store(total, sums, 8);
  simdgroup_store(part, sums + 64, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sums[lane] = sums[lane] + sums[64 + lane];
  sums[32 + lane] = sums[32 + lane] + sums[96 + lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(total, (MSL_THREADGROUP const float*)(sums), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);

  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

METAL_FUNC void store_words(MSL_THREAD const uint (&words)[kChunkTiles], MSL_THREADGROUP uint* to) {
  *(MSL_THREADGROUP uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(MSL_THREADGROUP uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}

METAL_FUNC void load_words(MSL_THREADGROUP const uint* from, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_THREADGROUP const uint4*)(from), *(MSL_THREADGROUP const uint4*)(from + 4), words);
}
# 21 "Shaders/matmul.h"

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



METAL_FUNC uint weight_row(MSL_CONSTANT pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    return tile * (rows / 2) + r % (rows / 2) + r / (rows / 2) * args.out_cols;
  }
  return tile * rows + r;
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
# 3 "Shaders/matmul_few.metal"
# 1 "Shaders/row_source.h"





# 1 "Shaders/norms.h"





MSL_CONSTANT constexpr uint kRowThreads = 256;
MSL_CONSTANT constexpr uint kRowSimdgroups = 8;

MSL_CONSTANT constexpr uint kAhead = 8;


METAL_FUNC float thread_squares(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; MSL_LOOP(first < width); first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);

    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }


METAL_FUNC float head_scale(MSL_DEVICE const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; MSL_LOOP(i < dim); i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
# 7 "Shaders/row_source.h"

MSL_CONSTANT constexpr uint kRmsNorm = 1;
MSL_CONSTANT constexpr uint kGatedRmsNorm = 2;
MSL_CONSTANT constexpr uint kSigmoidGate = 3;
MSL_CONSTANT constexpr uint kMostHeads = 64;


METAL_FUNC void row_scales(MSL_DEVICE const float* x, long x_stride, MSL_CONSTANT pagoda_args::RowSource& source, uint rows,
                           MSL_THREADGROUP float* scales, MSL_THREADGROUP float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; MSL_LOOP(r < rows); ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; MSL_LOOP(i < kRowSimdgroups); ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {

    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; MSL_LOOP(i < rows * source.heads); i += kRowSimdgroups) {
        MSL_DEVICE const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}


METAL_FUNC float row_element(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                             MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}


METAL_FUNC float4 row_elements(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                               MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(MSL_DEVICE const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(MSL_DEVICE const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
# 4 "Shaders/matmul_few.metal"


METAL_FUNC void load_made(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                          MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column,
                          MSL_THREAD uint (&words)[kChunkTiles]) {

  for (uint i = 0; i < 4; ++i) {
    const float4 v = row_elements(x, weight, gate, source, scales, column + 4 * i);
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}


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




template <typename T, typename X, uint BITS, bool MADE, uint RT, uint MT>

MSL_KERNEL void matmul_few(MSL_DEVICE const X* x ,
                       MSL_DEVICE const float* x_scales ,
                       MSL_DEVICE const uint* w ,
                       MSL_DEVICE const ushort* w_steps ,
                       MSL_DEVICE const float* w_scales ,
                       MSL_DEVICE const float* bias ,
                       MSL_DEVICE const float* weight ,
                       MSL_DEVICE const float* gate ,
                       MSL_DEVICE float* out ,
                       MSL_CONSTANT pagoda_args::Matmul& args ,
                       uint tg ,
                       uint tid ,
                       uint sg ,
                       uint lane ) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint AHEAD = 4 / RT;
  constexpr uint WIDTH = 8 * MT;
  constexpr uint SUMS = kRuns * ROWS * WIDTH;
  constexpr uint SCRATCH = kRuns * kTileScratch;
  constexpr uint SHARED = SUMS > SCRATCH ? SUMS : SCRATCH;
  constexpr uint MADE_WORDS = MADE ? WIDTH * (kMostHeads + kRowSimdgroups) : 0;
  MSL_TG_VAR(1, shared_words, [SHARED+MADE_WORDS], float)
  MSL_THREADGROUP float* scales = shared_words + SHARED;
  MSL_THREADGROUP float* parts = scales + WIDTH * kMostHeads;
  MSL_THREADGROUP uint* scratch = (MSL_THREADGROUP uint*)(shared_words) + sg * kTileScratch;

  ulong w_at[RT];

  for (uint i = 0; i < RT; ++i) {
    w_at[i] = ulong(weight_row(args, tg, 8 * i + lane / 4, ROWS)) * args.padded_cols + lane % 4 * 16;
  }
  ulong x_at[MT];

  for (uint t = 0; t < MT; ++t) {
    x_at[t] = ulong(min(8 * t + lane / 4, args.rows - 1)) * ulong(args.x_stride) + lane % 4 * 16;
  }
  SumTile acc[RT][MT];

  for (uint i = 0; i < RT; ++i) {

    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  const uint end = min((sg + 1) * args.run, args.padded_cols);
  const uint begin = sg * args.run;
  Share<BITS> share[AHEAD][RT];
  load_shares<BITS, AHEAD, RT>(w, w_steps, w_at, begin, end, share);

  if (MADE) {
    row_scales((MSL_DEVICE const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  for (uint k0 = begin; MSL_LOOP(k0 < end); k0 += AHEAD * kChunk) {

    for (uint u = 0; u < AHEAD; ++u) {
      if (k0 + u * kChunk < end) {
        uint w_words[RT][kChunkTiles];
        uint x_words[MT][kChunkTiles];

        for (uint t = 0; t < MT; ++t) {
          if (MADE) {
            const uint m = min(8 * t + lane / 4, args.rows - 1);
            load_made((MSL_DEVICE const float*)(x) + long(m) * args.x_stride, weight,
                      gate + long(m) * args.source.gate_stride, args.source,
                      (MSL_THREADGROUP const float*)(scales + m * args.source.heads), k0 + u * kChunk + lane % 4 * 16,
                      x_words[t]);
          } else {
            load_x(x + x_at[t] + k0 + u * kChunk, x_words[t]);
          }
        }

        for (uint i = 0; i < RT; ++i) {
          share_words(share[u][i], w_words[i]);
        }
        chunk_multiply<T, RT, MT>(acc, w_words, x_words, scratch, lane);
      }
    }

    if (k0 + AHEAD * kChunk < end) {
      load_shares<BITS, AHEAD, RT>(w, w_steps, w_at, k0 + AHEAD * kChunk, end, share);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = 0; i < RT; ++i) {

    for (uint t = 0; t < MT; ++t) {
      simdgroup_store(acc[i][t], shared_words + (sg * ROWS + 8 * i) * WIDTH + 8 * t, WIDTH);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; MSL_LOOP(i < made * WIDTH); i += 256) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg * made + r;
    if (m < args.rows && column < args.out_cols) {
      float sum = 0.0f;
      float other = 0.0f;

      for (uint run = 0; run < kRuns; ++run) {
        sum += shared_words[(run * ROWS + r) * WIDTH + m];
        if (args.silu_mul != 0) {
          other += shared_words[(run * ROWS + made + r) * WIDTH + m];
        }
      }
      write_out(args, x_scales, w_scales, bias, out, m, column, sum, other, sizeof(X) == 2, BITS < 16);
    }
  }
}
# 159 "Shaders/matmul_few.metal"
    
    
    
    









# 1 "matmul_few.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 16, false, 1, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_0 = 256;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 16, false, 2, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_1 = 256;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 16, false, 2, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_2 = 256;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 16, false, 2, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_3 = 256;
void msl_entry_4(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 16, false, 2, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_4[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_4 = 256;
void msl_entry_5(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, bfloat, 16, false, 1, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_5[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_5 = 256;
void msl_entry_6(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, bfloat, 16, false, 2, 1>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_6[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_6 = 256;
void msl_entry_7(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, bfloat, 16, false, 2, 2>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_7[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_7 = 256;
void msl_entry_8(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, bfloat, 16, false, 2, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_8[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_8 = 256;
void msl_entry_9(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, bfloat, 16, false, 2, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_9[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_9 = 256;
void msl_entry_10(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 8, false, 1, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_10[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_10 = 256;
void msl_entry_11(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 8, false, 2, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_11[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_11 = 256;
void msl_entry_12(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 8, false, 2, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_12[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_12 = 256;
void msl_entry_13(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 8, false, 2, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_13[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_13 = 256;
void msl_entry_14(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 8, false, 2, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_14[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_14 = 256;
void msl_entry_15(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 4, false, 1, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_15[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_15 = 256;
void msl_entry_16(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 4, false, 2, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_16[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_16 = 256;
void msl_entry_17(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 4, false, 2, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_17[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_17 = 256;
void msl_entry_18(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 4, false, 2, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_18[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_18 = 256;
void msl_entry_19(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<half, half, 4, false, 2, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_19[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_19 = 256;
void msl_entry_20(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, false, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_20[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_20 = 256;
void msl_entry_21(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, false, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_21[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_21 = 256;
void msl_entry_22(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, false, 2, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_22[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_22 = 256;
void msl_entry_23(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, false, 2, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_23[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_23 = 256;
void msl_entry_24(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, false, 2, 8>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_24[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_24 = 256;
void msl_entry_25(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, true, 1, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_25[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_25 = 256;
void msl_entry_26(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_few<bfloat, float, 16, true, 2, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_26[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_26 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_few_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"matmul_few_f16_1_1", "matmul_few", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"matmul_few_f16_2_1", "matmul_few", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"matmul_few_f16_2_2", "matmul_few", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
    {"matmul_few_f16_2_4", "matmul_few", metal::msl_bindings_3, {}, metal::msl_limit_3, metal::msl_entry_3},
    {"matmul_few_f16_2_8", "matmul_few", metal::msl_bindings_4, {}, metal::msl_limit_4, metal::msl_entry_4},
    {"matmul_few_bf16_1_1", "matmul_few", metal::msl_bindings_5, {}, metal::msl_limit_5, metal::msl_entry_5},
    {"matmul_few_bf16_2_1", "matmul_few", metal::msl_bindings_6, {}, metal::msl_limit_6, metal::msl_entry_6},
    {"matmul_few_bf16_2_2", "matmul_few", metal::msl_bindings_7, {}, metal::msl_limit_7, metal::msl_entry_7},
    {"matmul_few_bf16_2_4", "matmul_few", metal::msl_bindings_8, {}, metal::msl_limit_8, metal::msl_entry_8},
    {"matmul_few_bf16_2_8", "matmul_few", metal::msl_bindings_9, {}, metal::msl_limit_9, metal::msl_entry_9},
    {"matmul_few_q8_1_1", "matmul_few", metal::msl_bindings_10, {}, metal::msl_limit_10, metal::msl_entry_10},
    {"matmul_few_q8_2_1", "matmul_few", metal::msl_bindings_11, {}, metal::msl_limit_11, metal::msl_entry_11},
    {"matmul_few_q8_2_2", "matmul_few", metal::msl_bindings_12, {}, metal::msl_limit_12, metal::msl_entry_12},
    {"matmul_few_q8_2_4", "matmul_few", metal::msl_bindings_13, {}, metal::msl_limit_13, metal::msl_entry_13},
    {"matmul_few_q8_2_8", "matmul_few", metal::msl_bindings_14, {}, metal::msl_limit_14, metal::msl_entry_14},
    {"matmul_few_q4_1_1", "matmul_few", metal::msl_bindings_15, {}, metal::msl_limit_15, metal::msl_entry_15},
    {"matmul_few_q4_2_1", "matmul_few", metal::msl_bindings_16, {}, metal::msl_limit_16, metal::msl_entry_16},
    {"matmul_few_q4_2_2", "matmul_few", metal::msl_bindings_17, {}, metal::msl_limit_17, metal::msl_entry_17},
    {"matmul_few_q4_2_4", "matmul_few", metal::msl_bindings_18, {}, metal::msl_limit_18, metal::msl_entry_18},
    {"matmul_few_q4_2_8", "matmul_few", metal::msl_bindings_19, {}, metal::msl_limit_19, metal::msl_entry_19},
    {"matmul_few_direct_1_1", "matmul_few", metal::msl_bindings_20, {}, metal::msl_limit_20, metal::msl_entry_20},
    {"matmul_few_direct_2_1", "matmul_few", metal::msl_bindings_21, {}, metal::msl_limit_21, metal::msl_entry_21},
    {"matmul_few_direct_2_2", "matmul_few", metal::msl_bindings_22, {}, metal::msl_limit_22, metal::msl_entry_22},
    {"matmul_few_direct_2_4", "matmul_few", metal::msl_bindings_23, {}, metal::msl_limit_23, metal::msl_entry_23},
    {"matmul_few_direct_2_8", "matmul_few", metal::msl_bindings_24, {}, metal::msl_limit_24, metal::msl_entry_24},
    {"matmul_few_made_1_1", "matmul_few", metal::msl_bindings_25, {}, metal::msl_limit_25, metal::msl_entry_25},
    {"matmul_few_made_2_1", "matmul_few", metal::msl_bindings_26, {}, metal::msl_limit_26, metal::msl_entry_26},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
