// attention_codes.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 5 "Shaders/attention_codes.h"
#include "device/gpu/generated/attention_int8.h"
#include "device/gpu/generated/attention_partition.h"


METAL_FUNC PartTile keys_of(MSL_DEVICE const char* k_cache, MSL_DEVICE const char* v_cache, MSL_DEVICE const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            MSL_CONSTANT pagoda_args::PagedAttention& args) {
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  PartTile keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.tail = 0;
  keys.has_tail = false;
  keys.is_wide = true;
  keys.kv_head = kv_head;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
  return keys;
}

template <typename T>
METAL_FUNC void load_tail(MSL_DEVICE const char* v_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP T* v_tail, PartTile keys,
                          uint tid, MSL_CONSTANT pagoda_args::PagedAttention& args) {}


template <typename T>
METAL_FUNC float4 scales_of(MSL_DEVICE const T* k_cache, MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks, PartTile keys,
                            uint tid, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  return float4(0.0f, 0.0f, 0.0f, 0.0f);
}


METAL_FUNC float4 scales_of(MSL_DEVICE const char* k_cache, MSL_DEVICE const char* v_cache, MSL_DEVICE const int* blocks,
                            PartTile keys, uint tid, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  float4 scales = float4(0.0f, 0.0f, 0.0f, 0.0f);

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
METAL_FUNC void stage_scales(MSL_DEVICE const T* k_cache, float4 scales, MSL_THREADGROUP float* to, uint tid) {}


METAL_FUNC void stage_scales(MSL_DEVICE const char* k_cache, float4 scales, MSL_THREADGROUP float* to, uint tid) {

  for (uint i = 0; i < kPartition / kThreads; ++i) {
    to[tid + i * kThreads] = scales[i];
    to[kPartition + tid + i * kThreads] = scales[2 + i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename T, uint RT>
METAL_FUNC void score_partition(MSL_DEVICE const char* k_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP const T* q_tile,
                                MSL_THREADGROUP float* s_tile, MSL_THREADGROUP T* scratch, PartTile keys, uint row_tiles,
                                uint sg, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  for (uint pair = sg; MSL_LOOP(2 * pair < keys.key_tiles); pair += kSimdgroups) {
    MSL_DEVICE const char* rows[2];
    SumTile acc[2][RT];

    for (uint t = 0; t < 2; ++t) {

      rows[t] = row_of_lane(k_cache + long(keys.kv_head) * args.k_head_stride, keys.block, keys.offset, 2 * pair + t,
                            lane, args.k_block_stride, args.k_slot_stride) +
                lane % 4 * 16;

      for (uint r = 0; r < RT; ++r) {
        acc[t][r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }
    score_codes<T, RT>(acc, rows[0], rows[1], args.dim, q_tile, kQueryStride,
                       (MSL_THREADGROUP uint*)(scratch) + sg * kScratch, lane);

    for (uint t = 0; t < 2; ++t) {

      for (uint r = 0; r < RT; ++r) {

        if (r < row_tiles && 2 * pair + t < keys.key_tiles) {
          simdgroup_store(acc[t][r], s_tile + r * 8 * kScores + (2 * pair + t) * 8, kScores, ulong2(0, 0), true);
        }
      }
    }
  }
}


template <typename T, uint RT>
METAL_FUNC void sum_partition(MSL_DEVICE const char* v_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP float* s_tile,
                              MSL_THREADGROUP T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  const uint columns = (args.dim + kValueColumns * kSimdgroups - 1) / (kValueColumns * kSimdgroups) * kValueColumns;
  const uint first_column = sg * columns;
  const uint end = min(args.dim, first_column + columns);
  SumTile acc[RT][COLS];

  for (uint r = 0; r < RT; ++r) {

    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }

  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    MSL_DEVICE const char* row = row_of_lane(v_cache + long(keys.kv_head) * args.v_head_stride, keys.block, keys.offset, kt,
                                         lane, args.v_block_stride, args.v_slot_stride);
    simdgroup_matrix<T, 8, 8> weights[RT];

    for (uint r = 0; r < RT; ++r) {
      simdgroup_load(weights[r], (MSL_THREADGROUP T*)(s_tile) + (r < row_tiles ? r : 0) * 8 * LDW + kt * 8, LDW);
    }
    add_codes<T, RT, COLS>(acc, weights, row, first_column, end, (MSL_THREADGROUP uint*)(v_tail) + sg * kScratch, lane);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint r = 0; r < RT; ++r) {

    for (uint c = 0; c < COLS; ++c) {

      if (r < row_tiles && first_column + c / 4 * kValueColumns < end) {
        simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + first_column + c * 8, kScores);
      }
    }
  }
}
