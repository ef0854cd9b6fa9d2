// rope_and_cache: qk_norm_rope of queries and keys in place, and reshape_and_cache of keys and values, in one launch.
#include "args/rope_and_cache.h"
#include "cache_row.h"
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
    cache_row(from, to, args.dim, lane);
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
    cache_row((threadgroup const float*)(head), to, args.dim, lane);
  }
}

template [[host_name("rope_and_cache_f32")]] kernel decltype(rope_and_cache<float>) rope_and_cache<float>;
template [[host_name("rope_and_cache_f16")]] kernel decltype(rope_and_cache<half>) rope_and_cache<half>;
template [[host_name("rope_and_cache_bf16")]] kernel decltype(rope_and_cache<bfloat>) rope_and_cache<bfloat>;
template [[host_name("rope_and_cache_i8")]] kernel decltype(rope_and_cache<char>) rope_and_cache<char>;
