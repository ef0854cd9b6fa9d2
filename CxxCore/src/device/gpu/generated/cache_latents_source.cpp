// The text of cache_latents.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource cache_latents_source() noexcept {
  return {"cache_latents",
R"msl(#pragma METAL fp contract(off)
// cache_latents: writes the rows of new tokens to their slots in the paged cache.
#include "common.h"
#include "args/latent_attention.h"

// Grid: [tokens]. A slot is block * block_size + offset.
template <typename T>
kernel void cache_latents(device const float* x [[buffer(0)]],
                          device const long* slot_mapping [[buffer(1)]],
                          device T* cache [[buffer(2)]],
                          constant pagoda_args::CacheLatents& args [[buffer(3)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint num_threads [[threads_per_threadgroup]]) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  for (uint d = tid; d < args.dim; d += num_threads) {
    cache[block * args.block_stride + offset * args.slot_stride + d] = T(x[long(token) * args.x_stride + d]);
  }
}

template [[host_name("cache_latents_f32")]] kernel decltype(cache_latents<float>) cache_latents<float>;
template [[host_name("cache_latents_f16")]] kernel decltype(cache_latents<half>) cache_latents<half>;
template [[host_name("cache_latents_bf16")]] kernel decltype(cache_latents<bfloat>) cache_latents<bfloat>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/cache_latents.metal"
#include "Shaders/common.h"
#include "Shaders/args/latent_attention.h"


template <typename T>
MSL_KERNEL void cache_latents(MSL_DEVICE const float* x ,
                          MSL_DEVICE const long* slot_mapping ,
                          MSL_DEVICE T* cache ,
                          MSL_CONSTANT pagoda_args::CacheLatents& args ,
                          uint token ,
                          uint tid ,
                          uint num_threads ) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  for (uint d = tid; d < args.dim; d += num_threads) {
    cache[block * args.block_stride + offset * args.slot_stride + d] = T(x[long(token) * args.x_stride + d]);
  }
}

# 1 "cache_latents.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_cache_latents_f32)
extern "C" __global__ void __launch_bounds__(1024) cache_latents_f32(const float* x, const long* slot_mapping, float* cache, const pagoda_args::CacheLatents args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  cache_latents<float>(x, slot_mapping, cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_cache_latents_f16)
extern "C" __global__ void __launch_bounds__(1024) cache_latents_f16(const float* x, const long* slot_mapping, half* cache, const pagoda_args::CacheLatents args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  cache_latents<half>(x, slot_mapping, cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_cache_latents_bf16)
extern "C" __global__ void __launch_bounds__(1024) cache_latents_bf16(const float* x, const long* slot_mapping, bfloat* cache, const pagoda_args::CacheLatents args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  cache_latents<bfloat>(x, slot_mapping, cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
