// attention_tile.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/attention_tile.h"
#include "device/gpu/generated/attention_codes.h"


struct RowTile {
  uint seq;
  int begin;
  int tokens;
  int context;
  int row0;
  int num_rows;
  uint first_part;
  uint last_part;
  bool is_split;
};


METAL_FUNC int position_of(RowTile tile, int row, uint group) {
  return use_all_keys ? tile.context - 1 : tile.context - tile.tokens + (tile.row0 + row) / int(group);
}


template <uint ROWS>
METAL_FUNC RowTile tile_at(MSL_DEVICE const int* cu_seqlens, MSL_DEVICE const int* context_lens, uint3 tg,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
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
# 54 "Shaders/attention_tile.h"
template <typename T, uint ROWS>
METAL_FUNC void load_queries(MSL_DEVICE const float* q, MSL_THREADGROUP T* q_tile, RowTile tile, uint kv_head, uint tid,
                             MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint i = 0; i < kMaxDim / kThreads; ++i) {
    const uint d = tid + kThreads * i;
    float v[ROWS];

    for (uint r = 0; r < ROWS; ++r) {
      const int flat = tile.row0 + min(int(r), tile.num_rows - 1);
      const long head = long(kv_head) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(tile.begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }

    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * kQueryStride + d] = T(v[r]);
    }
  }
}


template <typename T, bool IS_INT8>
METAL_FUNC void weigh_rows(MSL_THREADGROUP float* s_tile, MSL_THREADGROUP const float* scales, MSL_THREADGROUP float* stats,
                           RowTile tile, int p0, uint num_keys, uint sg, uint lane,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  for (uint r = sg; MSL_LOOP(r < uint(tile.num_rows)); r += kSimdgroups) {
    float largest = 0.0f;
    float sum = 0.0f;
    weigh_scores<T, IS_INT8>((MSL_THREADGROUP const float*)(s_tile + r * kScores), (MSL_THREADGROUP T*)(s_tile) + r * LDW,
                             scales, p0, num_keys, position_of(tile, int(r), args.group), lane, args, largest, sum);
    if (lane == 0) {
      stats[r * kStats + kPartMax] = largest;
      stats[r * kStats + kPartSum] = sum;
    }
  }
}


METAL_FUNC void merge_stats(MSL_THREADGROUP float* row) {
  const float largest = max(row[kRowMax], row[kPartMax]);
  const float total_factor = precise::exp(row[kRowMax] - largest);
  const float part_factor = precise::exp(row[kPartMax] - largest);
  row[kRowSum] = merged(row[kRowSum], total_factor, row[kPartSum], part_factor);
  row[kRowMax] = largest;
  row[kTotalFactor] = total_factor;
  row[kPartFactor] = part_factor;
}


template <uint EACH, bool IS_INT8>
METAL_FUNC void merge_values(MSL_THREAD float (&total)[EACH], MSL_THREADGROUP const float* s_tile,
                             MSL_THREADGROUP const float* stats, RowTile tile, uint tid,
                             MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      total[i] = merged(total[i], stats[r * kStats + kTotalFactor], s_tile[r * kScores + column_in_sums<IS_INT8>(d)],
                        stats[r * kStats + kPartFactor]);
    }
  }
}


template <uint RT, uint EACH>
METAL_FUNC void begin_rows(MSL_THREADGROUP float* stats, MSL_THREAD float (&total)[EACH], uint tid) {
  if (tid < 8 * RT) {
    stats[tid * kStats + kRowMax] = kNegBig;
    stats[tid * kStats + kRowSum] = 0.0f;
  }

  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
# 139 "Shaders/attention_tile.h"
template <typename T, typename C, uint RT, uint EACH>
METAL_FUNC void add_partition(MSL_DEVICE const C* k_cache, MSL_DEVICE const C* v_cache, MSL_DEVICE const int* blocks,
                              MSL_THREADGROUP const T* q_tile, MSL_THREADGROUP float* s_tile, MSL_THREADGROUP T* v_tail,
                              MSL_THREADGROUP float* stats, MSL_THREAD float (&total)[EACH], RowTile tile, uint part,
                              uint kv_head, uint tid, uint sg, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {
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
  stage_scales(k_cache, scales, (MSL_THREADGROUP float*)(v_tail), tid);

  weigh_rows<T, IS_INT8>(s_tile, (MSL_THREADGROUP const float*)(v_tail), stats, tile, p0, key_tiles * 8, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (int(tid) < tile.num_rows) {
    merge_stats(stats + tid * kStats);
  }
  sum_partition<T, RT>(v_cache, blocks, s_tile, v_tail, keys, row_tiles, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  merge_values<EACH, IS_INT8>(total, (MSL_THREADGROUP const float*)(s_tile), (MSL_THREADGROUP const float*)(stats), tile, tid,
                              args);
}


template <uint EACH>
METAL_FUNC void store_rows(MSL_THREAD const float (&total)[EACH], MSL_THREADGROUP const float* stats, MSL_DEVICE const float* sinks,
                           MSL_DEVICE float* partials, MSL_DEVICE float* out, RowTile tile, uint kv_head, uint part, uint tid,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      const long token = tile.begin + (tile.row0 + int(r)) / int(args.group);
      const long head = long(kv_head) * args.group + (tile.row0 + int(r)) % int(args.group);
      const float largest = stats[r * kStats + kRowMax];
      const float sum = stats[r * kStats + kRowSum];
      if (tile.is_split) {
        MSL_DEVICE float* to =
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
