// The text of rope_and_cache.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource rope_and_cache_source() noexcept {
  return {"rope_and_cache",
R"msl(#pragma METAL fp contract(off)
// rope_and_cache: qk_norm_rope of queries and keys in place, and reshape_and_cache of keys and values, in one launch.
#include "args/rope_and_cache.h"
#include "rope.h"

// One simdgroup per head of a token: queries first, then keys, then values. Grid: [heads, tokens]
template <typename T>
[[max_total_threads_per_threadgroup(32)]]
kernel void rope_and_cache(device float* q [[buffer(0)]],
                           device float* k [[buffer(1)]],
                           device const float* v [[buffer(2)]],
                           device const float* q_weight [[buffer(3)]],
                           device const float* k_weight [[buffer(4)]],
                           device const int* positions [[buffer(5)]],
                           device const float* inv_freq [[buffer(6)]],
                           device const long* slot_mapping [[buffer(7)]],
                           device T* k_cache [[buffer(8)]],
                           device T* v_cache [[buffer(9)]],
                           constant pagoda_args::RopeAndCache& args [[buffer(10)]],
                           uint2 tg [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head[512];
  const long block = slot_mapping[tg.y] / long(args.block_size);
  const long offset = slot_mapping[tg.y] % long(args.block_size);
  if (tg.x >= args.q_heads + args.kv_heads) {
    const uint v_head = tg.x - args.q_heads - args.kv_heads;
    device const float* from = v + long(tg.y) * args.v_stride + long(v_head) * args.v_head_stride;
    device T* to = v_cache + block * args.v_block_stride + offset * args.v_slot_stride +
                   long(v_head) * args.v_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(from[i]);
    }
    return;
  }
  const bool is_key = tg.x >= args.q_heads;
  const uint k_head = is_key ? tg.x - args.q_heads : 0;
  device float* at = is_key ? k + long(tg.y) * args.k_stride + long(k_head) * args.k_head_stride
                            : q + long(tg.y) * args.q_stride + long(tg.x) * args.q_head_stride;
  norm_and_rotate((device const float*)(at), is_key ? k_weight : q_weight, inv_freq, positions[tg.y], args.dim,
                  args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  for (uint i = lane; i < args.dim; i += 32) {
    at[i] = head[i];
  }
  if (is_key) {
    device T* to = k_cache + block * args.k_block_stride + offset * args.k_slot_stride +
                   long(k_head) * args.k_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(head[i]);
    }
  }
}

template [[host_name("rope_and_cache_f32")]] kernel decltype(rope_and_cache<float>) rope_and_cache<float>;
template [[host_name("rope_and_cache_f16")]] kernel decltype(rope_and_cache<half>) rope_and_cache<half>;
template [[host_name("rope_and_cache_bf16")]] kernel decltype(rope_and_cache<bfloat>) rope_and_cache<bfloat>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/rope_and_cache.metal"
#include "Shaders/args/rope_and_cache.h"
#include "Shaders/rope.h"


template <typename T>

MSL_KERNEL void rope_and_cache(MSL_DEVICE float* q ,
                           MSL_DEVICE float* k ,
                           MSL_DEVICE const float* v ,
                           MSL_DEVICE const float* q_weight ,
                           MSL_DEVICE const float* k_weight ,
                           MSL_DEVICE const int* positions ,
                           MSL_DEVICE const float* inv_freq ,
                           MSL_DEVICE const long* slot_mapping ,
                           MSL_DEVICE T* k_cache ,
                           MSL_DEVICE T* v_cache ,
                           MSL_CONSTANT pagoda_args::RopeAndCache& args ,
                           uint2 tg ,
                           uint lane ) {
  MSL_TG_VAR(1, head, [512], float)
  const long block = slot_mapping[tg.y] / long(args.block_size);
  const long offset = slot_mapping[tg.y] % long(args.block_size);
  if (tg.x >= args.q_heads + args.kv_heads) {
    const uint v_head = tg.x - args.q_heads - args.kv_heads;
    MSL_DEVICE const float* from = v + long(tg.y) * args.v_stride + long(v_head) * args.v_head_stride;
    MSL_DEVICE T* to = v_cache + block * args.v_block_stride + offset * args.v_slot_stride +
                   long(v_head) * args.v_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(from[i]);
    }
    return;
  }
  const bool is_key = tg.x >= args.q_heads;
  const uint k_head = is_key ? tg.x - args.q_heads : 0;
  MSL_DEVICE float* at = is_key ? k + long(tg.y) * args.k_stride + long(k_head) * args.k_head_stride
                            : q + long(tg.y) * args.q_stride + long(tg.x) * args.q_head_stride;
  norm_and_rotate((MSL_DEVICE const float*)(at), is_key ? k_weight : q_weight, inv_freq, positions[tg.y], args.dim,
                  args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  for (uint i = lane; i < args.dim; i += 32) {
    at[i] = head[i];
  }
  if (is_key) {
    MSL_DEVICE T* to = k_cache + block * args.k_block_stride + offset * args.k_slot_stride +
                   long(k_head) * args.k_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(head[i]);
    }
  }
}

# 1 "rope_and_cache.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rope_and_cache_f32)
extern "C" __global__ void __launch_bounds__(32) rope_and_cache_f32(float* q, float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, float* k_cache, float* v_cache, const pagoda_args::RopeAndCache args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  rope_and_cache<float>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rope_and_cache_f16)
extern "C" __global__ void __launch_bounds__(32) rope_and_cache_f16(float* q, float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, half* k_cache, half* v_cache, const pagoda_args::RopeAndCache args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  rope_and_cache<half>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rope_and_cache_bf16)
extern "C" __global__ void __launch_bounds__(32) rope_and_cache_bf16(float* q, float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, bfloat* k_cache, bfloat* v_cache, const pagoda_args::RopeAndCache args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  rope_and_cache<bfloat>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
