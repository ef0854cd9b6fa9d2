// The text of reshape_and_cache.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource reshape_and_cache_source() noexcept {
  return {"reshape_and_cache",
R"msl(#include "common.h"
#include "args/reshape_and_cache.h"
template <typename T>
kernel void reshape_and_cache(device const float* k [[buffer(0)]],
                              device const float* v [[buffer(1)]],
                              device const long* slot_mapping [[buffer(2)]],
                              device T* k_cache [[buffer(3)]],
                              device T* v_cache [[buffer(4)]],
                              constant pagoda_args::ReshapeAndCache& args [[buffer(5)]],
                              uint token [[threadgroup_position_in_grid]],
                              uint tid [[thread_index_in_threadgroup]],
                              uint num_threads [[threads_per_threadgroup]]) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  for (uint i = tid; i < args.kv_heads * args.dim; i += num_threads) {
    const long head = i / args.dim;
    const uint d = i % args.dim;
    k_cache[block * args.k_block_stride + offset * args.k_slot_stride + head * args.k_cache_head_stride + d] =
        T(k[long(token) * args.k_stride + head * args.k_head_stride + d]);
    v_cache[block * args.v_block_stride + offset * args.v_slot_stride + head * args.v_cache_head_stride + d] =
        T(v[long(token) * args.v_stride + head * args.v_head_stride + d]);
  }
}
MSL_INSTANCE(reshape_and_cache_f32, reshape_and_cache, float)
MSL_INSTANCE(reshape_and_cache_f16, reshape_and_cache, half)
MSL_INSTANCE(reshape_and_cache_bf16, reshape_and_cache, bfloat)
)msl",
R"msl(#define MSL_KERNEL_reshape_and_cache(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const float* k, const float* v, const long* slot_mapping, T* k_cache, T* v_cache, const pagoda_args::ReshapeAndCache args) { msl_let_dependents_begin(); msl_wait_for_inputs(); reshape_and_cache<T>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup())); }
#define MSL_ENTRY_reshape_and_cache_f32 MSL_KERNEL_reshape_and_cache((1024), float)
#define MSL_ENTRY_reshape_and_cache_f16 MSL_KERNEL_reshape_and_cache((1024), half)
#define MSL_ENTRY_reshape_and_cache_bf16 MSL_KERNEL_reshape_and_cache((1024), bfloat)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
