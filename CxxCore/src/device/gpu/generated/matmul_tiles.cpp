// matmul_tiles.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/matmul_tiles.metal"
# 1 "Shaders/matmul_tiles.metal"


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
# 4 "Shaders/matmul_tiles.metal"


template <typename T, uint BITS>

MSL_KERNEL void matmul_tiles(MSL_DEVICE const T* x ,
                         MSL_DEVICE const float* x_scales ,
                         MSL_DEVICE const uint* w ,
                         MSL_DEVICE const ushort* w_steps ,
                         MSL_DEVICE const float* w_scales ,
                         MSL_DEVICE const float* bias ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::Matmul& args ,
                         uint2 tg ,
                         uint tid ,
                         uint sg ,
                         uint lane ) {
  constexpr uint ROWS = 64;
  constexpr uint LD = kChunk / 2 + 4;
  constexpr uint STAGE = 2 * ROWS * LD;
  constexpr uint SCRATCH = 4 * kTileScratch;
  constexpr uint SUMS = ROWS * ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  MSL_TG_VAR(1, shared_words, [SHARED], uint)
  MSL_THREADGROUP uint* w_tile = shared_words;
  MSL_THREADGROUP uint* x_tile = shared_words + ROWS * LD;
  MSL_THREADGROUP uint* scratch = shared_words + STAGE + sg * kTileScratch;

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;

  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  ulong w_at[2];
  ulong x_at[2];

  for (uint i = 0; i < 2; ++i) {
    const uint r = stage_row + 32 * i;
    w_at[i] = ulong(weight_row(args, tg.y, r, ROWS)) * args.padded_cols + tid % 4 * 16;
    x_at[i] = ulong(min(m0 + r, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[4][4];
  SumTile total[4][4];

  for (uint i = 0; i < 4; ++i) {

    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[2];
  uint x_next[2][kChunkTiles];

  for (uint i = 0; i < 2; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; MSL_LOOP(k0 < args.padded_cols); k0 += kChunk) {

    for (uint i = 0; i < 2; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      const uint at = (stage_row + 32 * i) * LD + stage_word;
      store_words(words, w_tile + at);
      store_words(x_next[i], x_tile + at);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {

      for (uint i = 0; i < 2; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint w_words[4][kChunkTiles];
    uint x_words[4][kChunkTiles];

    for (uint i = 0; i < 4; ++i) {
      load_words((MSL_THREADGROUP const uint*)(w_tile + (sg_n + 8 * i + lane / 4) * LD + lane % 4 * 8), w_words[i]);
      load_words((MSL_THREADGROUP const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
    chunk_multiply<T, 4, 4>(acc, w_words, x_words, scratch, lane);
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;

      for (uint i = 0; i < 4; ++i) {

        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(shared_words);

  for (uint i = 0; i < 4; ++i) {

    for (uint t = 0; t < 4; ++t) {
      simdgroup_store(total[i][t], sums + (sg_m + 8 * t) * ROWS + sg_n + 8 * i, ROWS, ulong2(0, 0), true);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; MSL_LOOP(i < made * ROWS); i += 128) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg.y * made + r;
    if (m0 + m < args.rows && column < args.out_cols) {
      write_out(args, x_scales, w_scales, bias, out, m0 + m, column, sums[m * ROWS + r],
                args.silu_mul != 0 ? sums[m * ROWS + made + r] : 0.0f, true, BITS < 16);
    }
  }
}










# 1 "matmul_tiles.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 16>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<bfloat, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_2 = 128;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_tiles<half, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_3 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_tiles_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"matmul_tiles_f16", "matmul_tiles", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"matmul_tiles_bf16", "matmul_tiles", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"matmul_tiles_q8", "matmul_tiles", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
    {"matmul_tiles_q4", "matmul_tiles", metal::msl_bindings_3, {}, metal::msl_limit_3, metal::msl_entry_3},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
