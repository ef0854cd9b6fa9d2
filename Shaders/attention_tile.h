// The tile of rows that an attention threadgroup processes: its location, the loop over partitions, and its results.
#pragma once

#include "attention_codes.h"

// Rows row0 .. row0 + num_rows of sequence `seq`, and the partitions that the threadgroup processes for them.
struct RowTile {
  uint seq;
  int begin;    // the first token of the sequence in the step
  int tokens;   // tokens of the sequence in the step
  int context;  // tokens of the sequence in the cache, after the step
  int row0;
  int num_rows;  // 0: nothing to do
  uint first_part;
  uint last_part;
  bool is_split;  // whether the result covers one partition, to be merged by paged_attention_reduce
};

// The last position that a row sees.
METAL_FUNC int position_of(RowTile tile, int row, uint group) {
  return use_all_keys ? tile.context - 1 : tile.context - tile.tokens + (tile.row0 + row) / int(group);
}

// tg: [tile, KV head, partition]
template <uint ROWS>
METAL_FUNC RowTile tile_at(device const int* cu_seqlens, device const int* context_lens, uint3 tg,
                           constant pagoda_args::PagedAttention& args) {
  RowTile tile;
  tile.seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.group, ROWS);
  tile.begin = cu_seqlens[tile.seq];
  tile.tokens = cu_seqlens[tile.seq + 1] - tile.begin;
  tile.context = context_lens[tile.seq];
  tile.row0 = int((tg.x - first_tile(cu_seqlens, tile.seq, args.group, ROWS)) * ROWS);
  tile.num_rows = min(int(ROWS), tile.tokens * int(args.group) - tile.row0);
  tile.is_split = tile.tokens == 1 && args.is_split != 0;
  if (tile.num_rows <= 0 || (!tile.is_split && tg.z > 0)) {
    tile.num_rows = 0;
    return tile;
  }
  tile.first_part = first_part(position_of(tile, 0, args.group), args.window);
  tile.last_part = uint(position_of(tile, tile.num_rows - 1, args.group)) / kPartition;
  if (tile.is_split) {
    if (tg.z < tile.first_part || tg.z > tile.last_part) {
      tile.num_rows = 0;
    }
    tile.first_part = tg.z;
    tile.last_part = tg.z;
  }
  return tile;
}

// Rows past the last repeat it. A thread loads dims d and d + 128 of all rows; all loads of a dim are in flight at
// once.
template <typename T, uint ROWS>
METAL_FUNC void load_queries(device const float* q, threadgroup T* q_tile, RowTile tile, uint kv_head, uint tid,
                             constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < kMaxDim / kThreads; ++i) {
    const uint d = tid + kThreads * i;
    float v[ROWS];
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      const int flat = tile.row0 + min(int(r), tile.num_rows - 1);
      const long head = long(kv_head) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(tile.begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * kQueryStride + d] = T(v[r]);
    }
  }
}

// Softmax of each row within a partition; its maximum and sum go to `stats`.
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_rows(threadgroup float* s_tile, threadgroup const float* scales, threadgroup float* stats,
                           RowTile tile, int p0, uint num_keys, uint sg, uint lane,
                           constant pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);  // the weights overwrite the row's scores
  for (uint r = sg; r < uint(tile.num_rows); r += kSimdgroups) {
    float largest = 0.0f;
    float sum = 0.0f;
    weigh_scores<T, IS_INT8>((threadgroup const float*)(s_tile + r * kScores), (threadgroup T*)(s_tile) + r * LDW,
                             scales, p0, num_keys, position_of(tile, int(r), args.group), lane, args, largest, sum);
    if (lane == 0) {
      stats[r * kStats + kPartMax] = largest;
      stats[r * kStats + kPartSum] = sum;
    }
  }
}

// Updates a row's maximum and sum over all partitions so far, and the factors that scale the total and the partition.
METAL_FUNC void merge_stats(threadgroup float* row) {
  const float largest = max(row[kRowMax], row[kPartMax]);
  const float total_factor = precise::exp(row[kRowMax] - largest);
  const float part_factor = precise::exp(row[kPartMax] - largest);
  row[kRowSum] = merged(row[kRowSum], total_factor, row[kPartSum], part_factor);
  row[kRowMax] = largest;
  row[kTotalFactor] = total_factor;
  row[kPartFactor] = part_factor;
}

// total: the thread's elements of the output so far; those of the partition are in s_tile.
template <uint EACH, bool IS_INT8>
METAL_FUNC void merge_values(thread float (&total)[EACH], threadgroup const float* s_tile,
                             threadgroup const float* stats, RowTile tile, uint tid,
                             constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      total[i] = merged(total[i], stats[r * kStats + kTotalFactor], s_tile[r * kScores + column_in_sums<IS_INT8>(d)],
                        stats[r * kStats + kPartFactor]);
    }
  }
}

// Initialises rows that have seen no key yet. q_tile is complete when it returns.
template <uint RT, uint EACH>
METAL_FUNC void begin_rows(threadgroup float* stats, thread float (&total)[EACH], uint tid) {
  if (tid < 8 * RT) {
    stats[tid * kStats + kRowMax] = kNegBig;
    stats[tid * kStats + kRowSum] = 0.0f;
  }
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Adds the keys of one partition. C: the type of the cache. v_tail: the values of the last 8 keys, zero past the end;
// of an int8 cache, space for tiles of products, and between them for the scales. The next partition needs a barrier
// first.
template <typename T, typename C, uint RT, uint EACH>
METAL_FUNC void add_partition(device const C* k_cache, device const C* v_cache, device const int* blocks,
                              threadgroup const T* q_tile, threadgroup float* s_tile, threadgroup T* v_tail,
                              threadgroup float* stats, thread float (&total)[EACH], RowTile tile, uint part,
                              uint kv_head, uint tid, uint sg, uint lane, constant pagoda_args::PagedAttention& args) {
  constexpr bool IS_INT8 = sizeof(C) == 1;
  const uint row_tiles = (uint(tile.num_rows) + 7) / 8;
  const int last_position = position_of(tile, tile.num_rows - 1, args.group);
  const int p0 = int(part * kPartition);
  const uint key_tiles = (uint(min(int(kPartition), last_position + 1 - p0)) + 7) / 8;
  const PartTile keys = keys_of(k_cache, v_cache, blocks, p0, key_tiles, tile.context, kv_head, lane, args);

  const float4 scales = scales_of(k_cache, v_cache, blocks, keys, tid, args);
  score_partition<T, RT>(k_cache, blocks, q_tile, s_tile, v_tail, keys, row_tiles, sg, lane, args);
  load_tail<T>(v_cache, blocks, v_tail, keys, tid, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  stage_scales(k_cache, scales, (threadgroup float*)(v_tail), tid);

  weigh_rows<T, IS_INT8>(s_tile, (threadgroup const float*)(v_tail), stats, tile, p0, key_tiles * 8, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (int(tid) < tile.num_rows) {
    merge_stats(stats + tid * kStats);
  }
  sum_partition<T, RT>(v_cache, blocks, s_tile, v_tail, keys, row_tiles, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  merge_values<EACH, IS_INT8>(total, (threadgroup const float*)(s_tile), (threadgroup const float*)(stats), tile, tid,
                              args);
}

// Writes finished rows to `out`, or those of one partition to `partials`. part: the partition, if tokens are split
template <uint EACH>
METAL_FUNC void store_rows(thread const float (&total)[EACH], threadgroup const float* stats, device const float* sinks,
                           device float* partials, device float* out, RowTile tile, uint kv_head, uint part, uint tid,
                           constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      const long token = tile.begin + (tile.row0 + int(r)) / int(args.group);
      const long head = long(kv_head) * args.group + (tile.row0 + int(r)) % int(args.group);
      const float largest = stats[r * kStats + kRowMax];
      const float sum = stats[r * kStats + kRowSum];
      if (tile.is_split) {
        device float* to =
            partials + ((long(tile.seq) * args.heads + head) * args.max_parts + long(part)) * (args.dim + 2);
        to[d] = total[i];
        if (d == 0) {
          to[args.dim] = largest;
          to[args.dim + 1] = sum;
        }
      } else {
        const float sink = use_sinks ? sinks[head] : 0.0f;
        out[token * args.out_stride + head * args.out_head_stride + d] = total[i] * scale_to_end(largest, sum, sink);
      }
    }
  }
}
