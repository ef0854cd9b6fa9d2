// The text of reshape_and_cache.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource reshape_and_cache_source() noexcept {
  return {"reshape_and_cache",
R"msl(#include "cache_row.h"
#include "args/reshape_and_cache.h"
template <typename T>
kernel void reshape_and_cache(device const float* k [[buffer(0)]],
                              device const float* v [[buffer(1)]],
                              device const long* slot_mapping [[buffer(2)]],
                              device T* k_cache [[buffer(3)]],
                              device T* v_cache [[buffer(4)]],
                              constant pagoda_args::ReshapeAndCache& args [[buffer(5)]],
                              uint token [[threadgroup_position_in_grid]],
                              uint sg [[simdgroup_index_in_threadgroup]],
                              uint num_sgs [[simdgroups_per_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]]) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  for (uint head = sg; head < 2 * args.kv_heads; head += num_sgs) {
    const bool is_key = head < args.kv_heads;
    const long h = is_key ? head : head - args.kv_heads;
    device const float* from = is_key ? k + long(token) * args.k_stride + h * args.k_head_stride
                                      : v + long(token) * args.v_stride + h * args.v_head_stride;
    device T* to =
        is_key ? k_cache + block * args.k_block_stride + offset * args.k_slot_stride + h * args.k_cache_head_stride
               : v_cache + block * args.v_block_stride + offset * args.v_slot_stride + h * args.v_cache_head_stride;
    cache_row(from, to, args.dim, lane);
  }
}
MSL_INSTANCE(reshape_and_cache_f32, reshape_and_cache, float)
MSL_INSTANCE(reshape_and_cache_f16, reshape_and_cache, half)
MSL_INSTANCE(reshape_and_cache_bf16, reshape_and_cache, bfloat)
MSL_INSTANCE(reshape_and_cache_i8, reshape_and_cache, char)
)msl",
R"msl(#define MSL_KERNEL_reshape_and_cache(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const float* k, const float* v, const long* slot_mapping, T* k_cache, T* v_cache, const pagoda_args::ReshapeAndCache args) { msl_let_dependents_begin(); msl_wait_for_inputs(); reshape_and_cache<T>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroups_per_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_reshape_and_cache_f32 MSL_KERNEL_reshape_and_cache((1024), float)
#define MSL_ENTRY_reshape_and_cache_f16 MSL_KERNEL_reshape_and_cache((1024), half)
#define MSL_ENTRY_reshape_and_cache_bf16 MSL_KERNEL_reshape_and_cache((1024), bfloat)
#define MSL_ENTRY_reshape_and_cache_i8 MSL_KERNEL_reshape_and_cache((1024), char)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
