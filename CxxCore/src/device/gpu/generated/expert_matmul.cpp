// expert_matmul.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/expert_matmul.metal"
# 1 "Shaders/expert_matmul.metal"







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
# 9 "Shaders/expert_matmul.metal"
# 1 "Shaders/args/experts.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/experts.h"

namespace pagoda_args {

struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;
  uint num_experts;
  uint chosen;
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");

struct ExpertTiles {
  long ids_stride;
  uint tokens;
  uint chosen;
  uint num_experts;
  uint max_tiles;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");

struct ExpertMatmul {
  long x_stride, out_stride;
  uint x_share;
  uint cols;
  uint padded_cols;
  uint out_cols;
  uint expert_rows;
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");

struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;
  uint cols;
  uint chosen;
  uint has_shared;
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");

}
# 10 "Shaders/expert_matmul.metal"

MSL_CONSTANT constexpr uint kRows = 8;


struct F32 {};
struct F16 {};
struct BF16 {};
struct Q8 {};
struct Q4 {};


METAL_FUNC float4 load_four(F32 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  return *(MSL_DEVICE const float4*)(w + at);
}

METAL_FUNC float half_of(uint word, uint shift) { return float(as_type<half>(ushort(word >> shift & 0xffffu))); }

METAL_FUNC float4 load_four(F16 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint2 words = *(MSL_DEVICE const uint2*)(w + at / 2);
  return float4(half_of(words.x, 0), half_of(words.x, 16), half_of(words.y, 0), half_of(words.y, 16));
}

METAL_FUNC float4 load_four(BF16 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint2 words = *(MSL_DEVICE const uint2*)(w + at / 2);
  return float4(as_type<float>(words.x << 16), as_type<float>(words.x & 0xffff0000u), as_type<float>(words.y << 16),
                as_type<float>(words.y & 0xffff0000u));
}

METAL_FUNC float4 load_four(Q8 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint word = w[at / 4];
  return float4(signed_byte(word, 0), signed_byte(word, 1), signed_byte(word, 2), signed_byte(word, 3));
}

METAL_FUNC float4 load_four(Q4 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint word = w[at / 8] >> (at % 8 * 4);
  const uint step = uint(steps[at / 32]) & 0xffu;
  const uint offset = uint(steps[at / 32]) >> 8;
  return float4(stepped_nibble(word, 0, step, offset), stepped_nibble(word, 1, step, offset),
                stepped_nibble(word, 2, step, offset), stepped_nibble(word, 3, step, offset));
}

template <typename X>
METAL_FUNC float x_at(MSL_DEVICE const X* row, uint k, uint cols) {
  return k < cols ? float(row[k]) : 0.0f;
}


template <typename X>
METAL_FUNC float add_four(MSL_DEVICE const X* row, uint k, uint cols, float4 four, float sum) {
  sum = fma(x_at(row, k, cols), four.x, sum);
  sum = fma(x_at(row, k + 1, cols), four.y, sum);
  sum = fma(x_at(row, k + 2, cols), four.z, sum);
  return fma(x_at(row, k + 3, cols), four.w, sum);
}


template <typename FORMAT, typename X>
METAL_FUNC void multiply_rows(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong w_at, MSL_DEVICE const X* x,
                              MSL_THREAD const ulong (&rows)[kRows], uint count, uint cols, uint lane,
                              MSL_THREAD float (&sums)[kRows]) {

  for (uint r = 0; r < kRows; ++r) {
    sums[r] = 0.0f;
  }
  for (uint k = lane * 4; MSL_LOOP(k < cols); k += 128) {
    const float4 four = load_four(FORMAT(), w, steps, w_at + k);

    for (uint r = 0; r < kRows; ++r) {
      sums[r] = r < count ? add_four(x + rows[r], k, cols, four, sums[r]) : 0.0f;
    }
  }

  for (uint r = 0; r < kRows; ++r) {
    sums[r] = simd_sum(sums[r]);
  }
}


template <typename FORMAT, typename X, bool SCALED>

MSL_KERNEL void expert_matmul(MSL_DEVICE const X* x ,
                          MSL_DEVICE const float* x_scales ,
                          MSL_DEVICE const uint* w ,
                          MSL_DEVICE const ushort* w_steps ,
                          MSL_DEVICE const float* w_scales ,
                          MSL_DEVICE const uint* order ,
                          MSL_DEVICE const uint* tiles ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::ExpertMatmul& args ,
                          uint2 tg ,
                          uint sg ,
                          uint lane ) {
  const uint count = tiles[tg.y * 4 + 2];
  const uint n = tg.x * 4 + sg;
  if (count == 0 || n >= args.out_cols) {
    return;
  }
  MSL_DEVICE const uint* slots = order + tiles[tg.y * 4 + 1];
  ulong rows[kRows];

  for (uint r = 0; r < kRows; ++r) {
    rows[r] = ulong(slots[r < count ? r : 0] / args.x_share) * ulong(args.x_stride);
  }
  const uint w_row = tiles[tg.y * 4] * args.expert_rows + n;
  float sums[kRows];
  float others[kRows];
  multiply_rows<FORMAT, X>(w, w_steps, ulong(w_row) * args.padded_cols, x, rows, count, args.cols, lane, sums);
  if (args.silu_mul != 0) {
    const ulong at = ulong(w_row + args.out_cols) * args.padded_cols;
    multiply_rows<FORMAT, X>(w, w_steps, at, x, rows, count, args.cols, lane, others);
  }

  for (uint r = 0; r < kRows; ++r) {
    if (lane == r && r < count) {
      const float x_scale = SCALED ? x_scales[slots[r] / args.x_share] : 1.0f;
      float value = SCALED ? sums[r] * x_scale * w_scales[w_row] : sums[r];
      if (args.silu_mul != 0) {
        value = silu(value) * (SCALED ? others[r] * x_scale * w_scales[w_row + args.out_cols] : others[r]);
      }
      out[long(slots[r]) * args.out_stride + n] = value;
    }
  }
}












# 1 "expert_matmul.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_matmul<F32, float, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const uint*)in.buffers[5], (const uint*)in.buffers[6], (float*)in.buffers[7], *(const pagoda_args::ExpertMatmul*)in.buffers[8], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"order", 5, BindingKind::buffer, sizeof(uint), false}, {"tiles", 6, BindingKind::buffer, sizeof(uint), false}, {"out", 7, BindingKind::buffer, sizeof(float), true}, {"args", 8, BindingKind::values, sizeof(pagoda_args::ExpertMatmul), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_matmul<F16, float, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const uint*)in.buffers[5], (const uint*)in.buffers[6], (float*)in.buffers[7], *(const pagoda_args::ExpertMatmul*)in.buffers[8], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"order", 5, BindingKind::buffer, sizeof(uint), false}, {"tiles", 6, BindingKind::buffer, sizeof(uint), false}, {"out", 7, BindingKind::buffer, sizeof(float), true}, {"args", 8, BindingKind::values, sizeof(pagoda_args::ExpertMatmul), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_matmul<BF16, float, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const uint*)in.buffers[5], (const uint*)in.buffers[6], (float*)in.buffers[7], *(const pagoda_args::ExpertMatmul*)in.buffers[8], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"order", 5, BindingKind::buffer, sizeof(uint), false}, {"tiles", 6, BindingKind::buffer, sizeof(uint), false}, {"out", 7, BindingKind::buffer, sizeof(float), true}, {"args", 8, BindingKind::values, sizeof(pagoda_args::ExpertMatmul), false}};
constexpr uint32_t msl_limit_2 = 128;
void msl_entry_3(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_matmul<Q8, half, true>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const uint*)in.buffers[5], (const uint*)in.buffers[6], (float*)in.buffers[7], *(const pagoda_args::ExpertMatmul*)in.buffers[8], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_3[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"order", 5, BindingKind::buffer, sizeof(uint), false}, {"tiles", 6, BindingKind::buffer, sizeof(uint), false}, {"out", 7, BindingKind::buffer, sizeof(float), true}, {"args", 8, BindingKind::values, sizeof(pagoda_args::ExpertMatmul), false}};
constexpr uint32_t msl_limit_3 = 128;
void msl_entry_4(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_matmul<Q4, half, true>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const uint*)in.buffers[5], (const uint*)in.buffers[6], (float*)in.buffers[7], *(const pagoda_args::ExpertMatmul*)in.buffers[8], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup));
}
constexpr BindingInfo msl_bindings_4[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"order", 5, BindingKind::buffer, sizeof(uint), false}, {"tiles", 6, BindingKind::buffer, sizeof(uint), false}, {"out", 7, BindingKind::buffer, sizeof(float), true}, {"args", 8, BindingKind::values, sizeof(pagoda_args::ExpertMatmul), false}};
constexpr uint32_t msl_limit_4 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_matmul_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"expert_matmul_f32", "expert_matmul", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"expert_matmul_f16", "expert_matmul", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"expert_matmul_bf16", "expert_matmul", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
    {"expert_matmul_q8", "expert_matmul", metal::msl_bindings_3, {}, metal::msl_limit_3, metal::msl_entry_3},
    {"expert_matmul_q4", "expert_matmul", metal::msl_bindings_4, {}, metal::msl_limit_4, metal::msl_entry_4},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
