// matmul_f32.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/matmul_f32.metal"
# 1 "Shaders/matmul_f32.metal"

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
# 3 "Shaders/matmul_f32.metal"


METAL_FUNC float lane_product(MSL_DEVICE const float* x, MSL_DEVICE const float* w, uint cols, uint lane) {
  float sum = 0.0f;
  for (uint k = lane; MSL_LOOP(k < cols); k += 32) {
    sum = fma(x[k], w[k], sum);
  }
  return simd_sum(sum);
}



MSL_KERNEL void matmul_f32(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* w ,
                         MSL_DEVICE const float* bias ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::Matmul& args ,
                         uint2 tg ,
                         uint sg ,
                         uint lane ) {
  const uint n = tg.x * 4 + sg;
  if (n >= args.out_cols) {
    return;
  }
  MSL_DEVICE const float* w_row = w + ulong(n) * args.padded_cols;
  const float w_bias = args.has_bias != 0 ? bias[n] : 0.0f;
  for (uint m = tg.y * 8; MSL_LOOP(m < min(args.rows, tg.y * 8 + 8)); ++m) {
    MSL_DEVICE const float* x_row = x + long(m) * args.x_stride;
    float value = finish(lane_product(x_row, w_row, args.cols, lane), 1.0f, 1.0f, w_bias);
    if (args.silu_mul != 0) {
      const uint other = n + args.out_cols;
      const float product = lane_product(x_row, w + ulong(other) * args.padded_cols, args.cols, lane);
      value = silu(value) * finish(product, 1.0f, 1.0f, args.has_bias != 0 ? bias[other] : 0.0f);
    }
    if (lane == 0) {
      store_out(args, out, m, n, value);
    }
  }
}


# 1 "matmul_f32.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  matmul_f32((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::Matmul*)in.buffers[4], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"w", 1, BindingKind::buffer, sizeof(float), false}, {"bias", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
constexpr uint32_t msl_limit_0 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_f32_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"matmul_f32", "matmul_f32", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
