// The text of reshape_and_cache.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource reshape_and_cache_source() noexcept {
  return {"reshape_and_cache",
R"msl(#pragma METAL fp contract(off)
// reshape_and_cache: writes keys and values of new tokens to their slots in the paged cache.
#include "common.h"
#include "args/reshape_and_cache.h"

// Grid: [tokens]. A slot is block * block_size + offset.
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

template [[host_name("reshape_and_cache_f32")]] kernel decltype(reshape_and_cache<float>) reshape_and_cache<float>;
template [[host_name("reshape_and_cache_f16")]] kernel decltype(reshape_and_cache<half>) reshape_and_cache<half>;
template [[host_name("reshape_and_cache_bf16")]] kernel decltype(reshape_and_cache<bfloat>) reshape_and_cache<bfloat>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/reshape_and_cache.metal"
#include "Shaders/common.h"
#include "Shaders/args/reshape_and_cache.h"


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

# 1 "reshape_and_cache.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_reshape_and_cache_f32)
extern "C" __global__ void __launch_bounds__(1024) reshape_and_cache_f32(const float* k, const float* v, const long* slot_mapping, float* k_cache, float* v_cache, const pagoda_args::ReshapeAndCache args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  reshape_and_cache<float>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_reshape_and_cache_f16)
extern "C" __global__ void __launch_bounds__(1024) reshape_and_cache_f16(const float* k, const float* v, const long* slot_mapping, half* k_cache, half* v_cache, const pagoda_args::ReshapeAndCache args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  reshape_and_cache<half>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_reshape_and_cache_bf16)
extern "C" __global__ void __launch_bounds__(1024) reshape_and_cache_bf16(const float* k, const float* v, const long* slot_mapping, bfloat* k_cache, bfloat* v_cache, const pagoda_args::ReshapeAndCache args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  reshape_and_cache<bfloat>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
