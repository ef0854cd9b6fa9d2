// paged_attention: a tile of rows against its sequence's partitions, and the merge of partitions; paged_attention.h
// gives the order.
#include "attention_tile.h"

// C: the type of the cache, T: that of products. RT tiles of 8 rows. Grid: [tiles, KV heads, partitions]; tiles of several tokens run at partition 0 only and loop
// over the partitions.
template <typename T, typename C, uint RT>
[[max_total_threads_per_threadgroup(128)]]
kernel void paged_attention(device const float* q [[buffer(0)]],
                            device const C* k_cache [[buffer(1)]],
                            device const C* v_cache [[buffer(2)]],
                            device const int* cu_seqlens [[buffer(3)]],
                            device const int* context_lens [[buffer(4)]],
                            device const int* block_tables [[buffer(5)]],
                            device const float* sinks [[buffer(6)]],
                            device float* partials [[buffer(7)]],
                            device float* out [[buffer(8)]],
                            constant pagoda_args::PagedAttention& args [[buffer(9)]],
                            uint3 tg [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint EACH = ROWS * kMaxDim / kThreads;  // output elements per thread
  threadgroup T q_tile[ROWS * kQueryStride];
  threadgroup float s_tile[ROWS * kScores];  // scores, weights, then the partition's output
  threadgroup T v_tail[8 * kMaxDim];  // as add_partition() takes it
  threadgroup float stats[ROWS * kStats];

  const RowTile tile = tile_at<ROWS>(cu_seqlens, context_lens, tg, args);
  if (tile.num_rows <= 0) {
    return;
  }
  load_queries<T, ROWS>(q, q_tile, tile, tg.y, tid, args);
  float total[EACH];
  begin_rows<RT, EACH>(stats, total, tid);
  for (uint part = tile.first_part; part <= tile.last_part; ++part) {
    add_partition<T, C, RT, EACH>(k_cache, v_cache, block_tables + long(tile.seq) * args.table_stride,
                               (threadgroup const T*)(q_tile), s_tile, v_tail, stats, total, tile, part, tg.y, tid, sg,
                               lane, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  store_rows<EACH>(total, (threadgroup const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid, args);
}

template [[host_name("paged_attention_f32_1")]]
kernel decltype(paged_attention<float, float, 1>) paged_attention<float, float, 1>;
template [[host_name("paged_attention_f16_1")]]
kernel decltype(paged_attention<half, half, 1>) paged_attention<half, half, 1>;
template [[host_name("paged_attention_f16_2")]]
kernel decltype(paged_attention<half, half, 2>) paged_attention<half, half, 2>;
template [[host_name("paged_attention_bf16_1")]]
kernel decltype(paged_attention<bfloat, bfloat, 1>) paged_attention<bfloat, bfloat, 1>;
template [[host_name("paged_attention_bf16_2")]]
kernel decltype(paged_attention<bfloat, bfloat, 2>) paged_attention<bfloat, bfloat, 2>;
template [[host_name("paged_attention_i8_1")]]
kernel decltype(paged_attention<bfloat, char, 1>) paged_attention<bfloat, char, 1>;
template [[host_name("paged_attention_i8_2")]]
kernel decltype(paged_attention<bfloat, char, 2>) paged_attention<bfloat, char, 2>;

// Merges the partitions of single tokens, in order. Grid: [heads, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void paged_attention_reduce(device const float* partials [[buffer(0)]],
                                   device const int* cu_seqlens [[buffer(1)]],
                                   device const int* context_lens [[buffer(2)]],
                                   device const float* sinks [[buffer(3)]],
                                   device float* out [[buffer(4)]],
                                   constant pagoda_args::PagedAttention& args [[buffer(5)]],
                                   uint2 tg [[threadgroup_position_in_grid]],
                                   uint tid [[thread_index_in_threadgroup]]) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const int position = context_lens[tg.y] - 1;
  device const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * (args.dim + 2);
  const float sink = use_sinks ? sinks[tg.x] : 0.0f;
  for (uint d = tid; d < args.dim; d += kThreads) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = first_part(position, args.window); part <= uint(position) / kPartition; ++part) {
      device const float* from = parts + long(part) * (args.dim + 2);
      const float next = max(largest, from[args.dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] =
        total * scale_to_end(largest, sum, sink);
  }
}
