// cache_latents.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/cache_latents.metal"
# 1 "Shaders/cache_latents.metal"

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
# 3 "Shaders/cache_latents.metal"
# 1 "Shaders/args/latent_attention.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/latent_attention.h"

namespace pagoda_args {

struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long block_stride, place_stride;
  long table_stride;
  uint num_sequences;
  uint heads;
  uint dim;
  uint value_dim;
  uint block_size;
  uint max_parts;
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");

struct CacheLatents {
  long x_stride;
  long block_stride, place_stride;
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");

}
# 4 "Shaders/cache_latents.metal"


template <typename T>
MSL_KERNEL void cache_latents(MSL_DEVICE const float* x ,
                          MSL_DEVICE const long* slot_mapping ,
                          MSL_DEVICE T* cache ,
                          MSL_CONSTANT pagoda_args::CacheLatents& args ,
                          uint token ,
                          uint tid ,
                          uint num_threads ) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long place = slot_mapping[token] % long(args.block_size);
  for (uint d = tid; MSL_LOOP(d < args.dim); d += num_threads) {
    cache[block * args.block_stride + place * args.place_stride + d] = T(x[long(token) * args.x_stride + d]);
  }
}









# 1 "cache_latents.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  cache_latents<float>((const float*)in.buffers[0], (const long*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
constexpr uint32_t msl_limit_0 = 1024;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  cache_latents<half>((const float*)in.buffers[0], (const long*)in.buffers[1], (half*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(half), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
constexpr uint32_t msl_limit_1 = 1024;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  cache_latents<bfloat>((const float*)in.buffers[0], (const long*)in.buffers[1], (bfloat*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(bfloat), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
constexpr uint32_t msl_limit_2 = 1024;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> cache_latents_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"cache_latents_f32", "cache_latents", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"cache_latents_f16", "cache_latents", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"cache_latents_bf16", "cache_latents", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
