// The text of cache_latents.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource cache_latents_source() noexcept {
  return {"cache_latents",
R"msl(#include "common.h"
#include "args/latent_attention.h"
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
MSL_INSTANCE(cache_latents_f32, cache_latents, float)
MSL_INSTANCE(cache_latents_f16, cache_latents, half)
MSL_INSTANCE(cache_latents_bf16, cache_latents, bfloat)
)msl",
R"msl(#define MSL_KERNEL_cache_latents(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const float* x, const long* slot_mapping, T* cache, const pagoda_args::CacheLatents args) { msl_let_dependents_begin(); msl_wait_for_inputs(); cache_latents<T>(x, slot_mapping, cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup())); }
#define MSL_ENTRY_cache_latents_f32 MSL_KERNEL_cache_latents((1024), float)
#define MSL_ENTRY_cache_latents_f16 MSL_KERNEL_cache_latents((1024), half)
#define MSL_ENTRY_cache_latents_bf16 MSL_KERNEL_cache_latents((1024), bfloat)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
