// reshape_and_cache: writes keys and values of new tokens to their slots in the paged cache.
#include "cache_row.h"
#include "args/reshape_and_cache.h"

// A simdgroup writes a head at a time: keys first, then values. Grid: [tokens]. A slot is block * block_size + offset.
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

template [[host_name("reshape_and_cache_f32")]] kernel decltype(reshape_and_cache<float>) reshape_and_cache<float>;
template [[host_name("reshape_and_cache_f16")]] kernel decltype(reshape_and_cache<half>) reshape_and_cache<half>;
template [[host_name("reshape_and_cache_bf16")]] kernel decltype(reshape_and_cache<bfloat>) reshape_and_cache<bfloat>;
template [[host_name("reshape_and_cache_i8")]] kernel decltype(reshape_and_cache<char>) reshape_and_cache<char>;
