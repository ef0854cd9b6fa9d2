// reshape_and_cache.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/reshape_and_cache.metal"
# 1 "Shaders/reshape_and_cache.metal"

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
# 3 "Shaders/reshape_and_cache.metal"
# 1 "Shaders/args/reshape_and_cache.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/reshape_and_cache.h"

namespace pagoda_args {

struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_place_stride, k_cache_head_stride;
  long v_block_stride, v_place_stride, v_cache_head_stride;
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");

}
# 4 "Shaders/reshape_and_cache.metal"


template <typename T>
MSL_KERNEL void reshape_and_cache(MSL_DEVICE const float* k ,
                              MSL_DEVICE const float* v ,
                              MSL_DEVICE const long* slot_mapping ,
                              MSL_DEVICE T* k_cache ,
                              MSL_DEVICE T* v_cache ,
                              MSL_CONSTANT pagoda_args::ReshapeAndCache& args ,
                              uint token ,
                              uint tid ,
                              uint num_threads ) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long place = slot_mapping[token] % long(args.block_size);
  for (uint i = tid; MSL_LOOP(i < args.kv_heads * args.dim); i += num_threads) {
    const long head = i / args.dim;
    const uint d = i % args.dim;
    k_cache[block * args.k_block_stride + place * args.k_place_stride + head * args.k_cache_head_stride + d] =
        T(k[long(token) * args.k_stride + head * args.k_head_stride + d]);
    v_cache[block * args.v_block_stride + place * args.v_place_stride + head * args.v_cache_head_stride + d] =
        T(v[long(token) * args.v_stride + head * args.v_head_stride + d]);
  }
}









# 1 "reshape_and_cache.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  reshape_and_cache<float>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(float), true}, {"v_cache", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
constexpr uint32_t msl_limit_0 = 1024;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  reshape_and_cache<half>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (half*)in.buffers[3], (half*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(half), true}, {"v_cache", 4, BindingKind::buffer, sizeof(half), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
constexpr uint32_t msl_limit_1 = 1024;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  reshape_and_cache<bfloat>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (bfloat*)in.buffers[3], (bfloat*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(bfloat), true}, {"v_cache", 4, BindingKind::buffer, sizeof(bfloat), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
constexpr uint32_t msl_limit_2 = 1024;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> reshape_and_cache_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"reshape_and_cache_f32", "reshape_and_cache", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"reshape_and_cache_f16", "reshape_and_cache", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"reshape_and_cache_bf16", "reshape_and_cache", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
