// token_attention: rope_and_cache and paged_attention of single tokens in one launch, with the bits of both.
//
// Only the threadgroup of a sequence's last partition reads the new token's key and value, and it writes them itself;
// this limits it to eight heads per KV head: more would need several threadgroups. Every partition rotates the queries.
#include "args/token_attention.h"
#include "attention_tile.h"
#include "rope.h"

// Writes the token's queries to s_tile, as floats; in the last partition, also its key and value to the cache (of C).
template <typename C>
METAL_FUNC void rotate_heads(device const float* q, device const float* k, device const float* v,
                             device const float* q_weight, device const float* k_weight, device const float* inv_freq,
                             int position, long slot, device C* k_cache, device C* v_cache, threadgroup float* s_tile,
                             threadgroup float* k_head, bool is_last, uint sg, uint lane,
                             constant pagoda_args::RopeAndCache& args, uint group) {
  const uint num_heads = group + (is_last ? 1 : 0);
  for (uint h = sg; h < num_heads; h += kSimdgroups) {
    const bool is_key = h == group;
    norm_and_rotate(is_key ? k : q + long(h) * args.q_head_stride, is_key ? k_weight : q_weight, inv_freq, position,
                    args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0,
                    is_key ? k_head : s_tile + h * kScores, lane);
  }
  if (is_last) {
    const long block = slot / long(args.block_size);
    const long offset = slot % long(args.block_size);
    if (sg == group % kSimdgroups) {  // this simdgroup has the key
      cache_row((threadgroup const float*)(k_head),
                k_cache + block * args.k_block_stride + offset * args.k_slot_stride, args.dim, lane);
    }
    if (sg == (group + 1) % kSimdgroups) {
      cache_row(v, v_cache + block * args.v_block_stride + offset * args.v_slot_stride, args.dim, lane);
    }
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
}

// Grid: [sequences, KV heads, partitions]; q, k, v: the unrotated projections, one row per sequence
template <typename T, typename C>
[[max_total_threads_per_threadgroup(128)]]
kernel void token_attention(device const float* q [[buffer(0)]],
                            device const float* k [[buffer(1)]],
                            device const float* v [[buffer(2)]],
                            device const float* q_weight [[buffer(3)]],
                            device const float* k_weight [[buffer(4)]],
                            device const int* positions [[buffer(5)]],
                            device const float* inv_freq [[buffer(6)]],
                            device const long* slot_mapping [[buffer(7)]],
                            device C* k_cache [[buffer(8)]],
                            device C* v_cache [[buffer(9)]],
                            device const int* context_lens [[buffer(10)]],
                            device const int* block_tables [[buffer(11)]],
                            device const float* sinks [[buffer(12)]],
                            device float* partials [[buffer(13)]],
                            device float* out [[buffer(14)]],
                            constant pagoda_args::TokenAttention& args [[buffer(15)]],
                            uint3 tg [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8;
  constexpr uint EACH = ROWS * kMaxDim / kThreads;  // output elements per thread
  threadgroup T q_tile[ROWS * kQueryStride];
  threadgroup float s_tile[ROWS * kScores];  // queries; then scores, weights and the partition's output
  threadgroup T v_tail[8 * kMaxDim];  // as add_partition() takes it
  threadgroup float k_head[kMaxDim];
  threadgroup float stats[ROWS * kStats];

  RowTile tile;
  tile.seq = tg.x;
  tile.begin = int(tg.x);
  tile.tokens = 1;
  tile.context = context_lens[tg.x];
  tile.row0 = 0;
  tile.num_rows = int(args.attention.group);
  tile.first_part = tg.z;
  tile.last_part = tg.z;
  tile.is_split = args.attention.is_split != 0;
  const int position = tile.context - 1;
  const int first_key = int(tg.z * kPartition);
  const bool is_last = tg.z == uint(position) / kPartition;
  const bool is_seen = !use_window || first_key + int(kPartition) > position - int(args.attention.window) + 1;
  if (first_key > position || !is_seen) {
    return;
  }
  rotate_heads<C>(q + long(tg.x) * args.rope.q_stride + long(tg.y) * args.attention.group * args.rope.q_head_stride,
                  k + long(tg.x) * args.rope.k_stride + long(tg.y) * args.rope.k_head_stride,
                  v + long(tg.x) * args.rope.v_stride + long(tg.y) * args.rope.v_head_stride, q_weight, k_weight,
                  inv_freq, positions[tg.x], slot_mapping[tg.x],
                  k_cache + long(tg.y) * args.rope.k_cache_head_stride,
                  v_cache + long(tg.y) * args.rope.v_cache_head_stride, s_tile, k_head, is_last, sg, lane,
                  args.rope, args.attention.group);
  for (uint i = tid; i < ROWS * kMaxDim; i += kThreads) {
    const uint r = i / kMaxDim;
    const uint d = i % kMaxDim;
    float value = 0.0f;
    if (d < args.rope.dim) {
      value = s_tile[min(r, args.attention.group - 1) * kScores + d];
    }
    q_tile[r * kQueryStride + d] = T(value);
  }
  float total[EACH];
  begin_rows<1, EACH>(stats, total, tid);
  add_partition<T, C, 1, EACH>((device const C*)(k_cache), (device const C*)(v_cache),
                               block_tables + long(tg.x) * args.attention.table_stride,
                               (threadgroup const T*)(q_tile), s_tile, v_tail, stats, total, tile, tg.z, tg.y,
                               tid, sg, lane, args.attention);
  store_rows<EACH>(total, (threadgroup const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid,
                   args.attention);
}

template [[host_name("token_attention_f32")]]
kernel decltype(token_attention<float, float>) token_attention<float, float>;
template [[host_name("token_attention_f16")]]
kernel decltype(token_attention<half, half>) token_attention<half, half>;
template [[host_name("token_attention_bf16")]]
kernel decltype(token_attention<bfloat, bfloat>) token_attention<bfloat, bfloat>;
template [[host_name("token_attention_i8")]]
kernel decltype(token_attention<bfloat, char>) token_attention<bfloat, char>;
