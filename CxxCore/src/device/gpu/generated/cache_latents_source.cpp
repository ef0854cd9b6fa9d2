// The text of cache_latents.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource cache_latents_source() noexcept {
  return {"cache_latents",
R"msl(#include "cache_row.h"
#include "args/latent_attention.h"
template <typename T>
[[max_total_threads_per_threadgroup(32)]]
kernel void cache_latents(device const float* x [[buffer(0)]],
                          device const long* slot_mapping [[buffer(1)]],
                          device T* cache [[buffer(2)]],
                          constant pagoda_args::CacheLatents& args [[buffer(3)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  cache_row(x + long(token) * args.x_stride, cache + block * args.block_stride + offset * args.slot_stride, args.dim,
            lane);
}
MSL_INSTANCE(cache_latents_f32, cache_latents, float)
MSL_INSTANCE(cache_latents_f16, cache_latents, half)
MSL_INSTANCE(cache_latents_bf16, cache_latents, bfloat)
MSL_INSTANCE(cache_latents_i8, cache_latents, char)
)msl",
R"msl(#define MSL_KERNEL_cache_latents(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const float* x, const long* slot_mapping, T* cache, const pagoda_args::CacheLatents args) { msl_let_dependents_begin(); msl_wait_for_inputs(); cache_latents<T>(x, slot_mapping, cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_cache_latents_f32 MSL_KERNEL_cache_latents((32), float)
#define MSL_ENTRY_cache_latents_f16 MSL_KERNEL_cache_latents((32), half)
#define MSL_ENTRY_cache_latents_bf16 MSL_KERNEL_cache_latents((32), bfloat)
#define MSL_ENTRY_cache_latents_i8 MSL_KERNEL_cache_latents((32), char)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
