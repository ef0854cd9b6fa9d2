// One partition of paged_attention over an int8 cache: the functions of attention_partition.h, chosen by the cache's
// type.
#pragma once

#include "attention_int8.h"
#include "attention_partition.h"

// Each lane has the address of one tile of 8 keys.
METAL_FUNC PartTile keys_of(device const char* k_cache, device const char* v_cache, device const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            constant pagoda_args::PagedAttention& args) {
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  PartTile keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.tail = 0;
  keys.has_tail = false;  // codes are numbers, and the weights past the context are zero
  keys.is_wide = true;
  keys.kv_head = kv_head;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
  return keys;
}

template <typename T>
METAL_FUNC void load_tail(device const char* v_cache, device const int* blocks, threadgroup T* v_tail, PartTile keys,
                          uint tid, constant pagoda_args::PagedAttention& args) {}

// Only int8 caches have scales.
template <typename T>
METAL_FUNC float4 scales_of(device const T* k_cache, device const T* v_cache, device const int* blocks, PartTile keys,
                            uint tid, constant pagoda_args::PagedAttention& args) {
  return float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Those of the thread's two keys, then of their values. Of those past the context none is used.
METAL_FUNC float4 scales_of(device const char* k_cache, device const char* v_cache, device const int* blocks,
                            PartTile keys, uint tid, constant pagoda_args::PagedAttention& args) {
  float4 scales = float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (uint i = 0; i < kPartition / kThreads; ++i) {
    const uint at = tid + i * kThreads;
    if (at < keys.key_tiles * 8) {
      const uint key = uint(keys.p0) + at;
      scales[i] = scale_of_row(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride,
                                          args.k_slot_stride, long(keys.kv_head) * args.k_head_stride),
                               args.dim);
      scales[2 + i] = scale_of_row(cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride,
                                              args.v_slot_stride, long(keys.kv_head) * args.v_head_stride),
                                   args.dim);
    }
  }
  return scales;
}

template <typename T>
METAL_FUNC void stage_scales(device const T* k_cache, float4 scales, threadgroup float* to, uint tid) {}

// All see the scales of the partition's keys afterwards, and then those of its values.
METAL_FUNC void stage_scales(device const char* k_cache, float4 scales, threadgroup float* to, uint tid) {
#pragma unroll
  for (uint i = 0; i < kPartition / kThreads; ++i) {
    to[tid + i * kThreads] = scales[i];
    to[kPartition + tid + i * kThreads] = scales[2 + i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename T, uint RT>
METAL_FUNC void score_partition(device const char* k_cache, device const int* blocks, threadgroup const T* q_tile,
                                threadgroup float* s_tile, threadgroup T* scratch, PartTile keys, uint row_tiles,
                                uint sg, uint lane, constant pagoda_args::PagedAttention& args) {
  for (uint pair = sg; 2 * pair < keys.key_tiles; pair += kSimdgroups) {
    device const char* rows[2];
    SumTile acc[2][RT];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      // An odd last tile has a second one that is not stored: keys_of() gives it the rows of the last.
      rows[t] = row_of_lane(k_cache + long(keys.kv_head) * args.k_head_stride, keys.block, keys.offset, 2 * pair + t,
                            lane, args.k_block_stride, args.k_slot_stride) +
                lane % 4 * 16;
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        acc[t][r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }
    score_codes<T, RT>(acc, rows[0], rows[1], args.dim, q_tile, kQueryStride,
                       (threadgroup uint*)(scratch) + sg * kScratch, lane);
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        // Only saves work: rows beyond row_tiles and keys beyond key_tiles are not read.
        if (r < row_tiles && 2 * pair + t < keys.key_tiles) {
          simdgroup_store(acc[t][r], s_tile + r * 8 * kScores + (2 * pair + t) * 8, kScores, ulong2(0, 0), true);
        }
      }
    }
  }
}

// The sums are in the order of column_in_sums(). v_tail: scratch
template <typename T, uint RT>
METAL_FUNC void sum_partition(device const char* v_cache, device const int* blocks, threadgroup float* s_tile,
                              threadgroup T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              constant pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);     // the weights overwrite the row's scores
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;  // column tiles of the output that a simdgroup computes
  const uint columns = (args.dim + kValueColumns * kSimdgroups - 1) / (kValueColumns * kSimdgroups) * kValueColumns;
  const uint first_column = sg * columns;
  const uint end = min(args.dim, first_column + columns);
  SumTile acc[RT][COLS];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
#pragma unroll 4
  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    device const char* row = row_of_lane(v_cache + long(keys.kv_head) * args.v_head_stride, keys.block, keys.offset, kt,
                                         lane, args.v_block_stride, args.v_slot_stride);
    simdgroup_matrix<T, 8, 8> weights[RT];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      simdgroup_load(weights[r], (threadgroup T*)(s_tile) + (r < row_tiles ? r : 0) * 8 * LDW + kt * 8, LDW);
    }
    add_codes<T, RT, COLS>(acc, weights, row, first_column, end, (threadgroup uint*)(v_tail) + sg * kScratch, lane);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // all weights have been read
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      // Only saves work: rows beyond row_tiles are not read, nor columns beyond dim.
      if (r < row_tiles && first_column + c / 4 * kValueColumns < end) {
        simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + first_column + c * 8, kScores);
      }
    }
  }
}
