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
