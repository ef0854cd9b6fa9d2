// attention_partition.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/attention_partition.h"
#include "device/gpu/generated/paged_attention.h"
#include "device/gpu/generated/tiles.h"


template <typename T>
METAL_FUNC MSL_DEVICE const T* cache_rows(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, uint key, uint block_size,
                                      long block_stride, long slot_stride, long head_offset) {
  return cache + long(blocks[key / block_size]) * block_stride + long(key % block_size) * slot_stride + head_offset;
}


template <typename T, uint RT>
METAL_FUNC void score_keys(MSL_DEVICE const T* rows, MSL_THREADGROUP const T* q_tile, MSL_THREADGROUP float* s_tile, uint kt,
                           uint row_tiles, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  simdgroup_matrix<float, 8, 8> acc[RT];

  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }

  for (uint d = 0; d < args.dim; d += 8) {
    simdgroup_matrix<T, 8, 8> k_mat;
    simdgroup_load(k_mat, rows + d, ulong(args.k_slot_stride), ulong2(0, 0), true);

    for (uint r = 0; r < RT; ++r) {

      if (r < row_tiles) {
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(q_mat, q_tile + r * 8 * kQueryStride + d, kQueryStride);
        simdgroup_multiply_accumulate(acc[r], q_mat, k_mat, acc[r]);
      }
    }
  }

  for (uint r = 0; r < RT; ++r) {

    if (r < row_tiles) {
      simdgroup_store(acc[r], s_tile + r * 8 * kScores + kt * 8, kScores);
    }
  }
}
# 48 "Shaders/attention_partition.h"
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_scores(MSL_THREADGROUP const float* row, MSL_THREADGROUP T* weights, MSL_THREADGROUP const float* scales,
                             int p0, uint num_keys, int position, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args,
                             MSL_THREAD float& largest, MSL_THREAD float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;

  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (at < num_keys && is_visible(p0 + int(at), position, args.window)) {
      float s = row[at] * (IS_INT8 ? scales[at] * args.scale : args.scale);
      if (use_softcap) {
        s = args.softcap * precise::tanh(s / args.softcap);
      }
      score[i] = s;
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;

  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const bool seen = at < num_keys && is_visible(p0 + int(at), position, args.window);
    const KeyWeight<T> weight = weight_of<T, IS_INT8>(seen, score[i] - largest, scales + kPartition, at);

    if (at < num_keys) {
      weights[at] = weight.of_codes;
    }
    sum += weight.share;
  }
  sum = simd_sum(sum);
}
# 86 "Shaders/attention_partition.h"
template <typename T, uint RT, uint COLS>
METAL_FUNC void add_values(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS],
                           MSL_THREAD simdgroup_matrix<T, 8, 8> (&w_mat)[RT], MSL_DEVICE const T* rows,
                           MSL_THREADGROUP const T* v_tail, bool is_tail, uint first_column, uint columns, uint row_tiles,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
      simdgroup_matrix<T, 8, 8> v_mat;
      if (is_tail) {
        simdgroup_load(v_mat, v_tail + (first_column + c) * 8, kMaxDim);
      } else {
        simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.v_slot_stride));
      }

      for (uint r = 0; r < RT; ++r) {

        if (r < row_tiles) {
          simdgroup_multiply_accumulate(acc[r][c], w_mat[r], v_mat, acc[r][c]);
        }
      }
    }
  }
}

template <uint RT, uint COLS>
METAL_FUNC void store_values(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS], MSL_THREADGROUP float* s_tile,
                             uint first_column, uint columns, uint row_tiles,
                             MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {

      for (uint r = 0; r < RT; ++r) {

        if (r < row_tiles) {
          simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + (first_column + c) * 8, kScores);
        }
      }
    }
  }
}
# 258 "Shaders/attention_partition.h"
struct PartTile {
  int p0;
  uint key_tiles;
  int context;
  int tail;
  bool has_tail;
  bool is_wide;
  uint kv_head;
  int block;
  int offset;
};

template <typename T>
METAL_FUNC PartTile keys_of(MSL_DEVICE const T* k_cache, MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            MSL_CONSTANT pagoda_args::PagedAttention& args) {
  PartTile keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.tail = context / 8 * 8;
  keys.has_tail = p0 + int(key_tiles) * 8 > context;
  keys.is_wide = false;
  keys.kv_head = kv_head;
  keys.block = 0;
  keys.offset = 0;
# 291 "Shaders/attention_partition.h"
  return keys;
}


template <typename T>
METAL_FUNC void load_tail(MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP T* v_tail, PartTile keys,
                          uint tid, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  if (!keys.has_tail || keys.is_wide) {
    return;
  }
  MSL_DEVICE const T* rows = cache_rows(v_cache, blocks, uint(keys.tail), args.block_size, args.v_block_stride,
                                    args.v_slot_stride, long(keys.kv_head) * args.v_head_stride);
  for (uint i = tid; MSL_LOOP(i < 8 * args.dim); i += kThreads) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    T value = T(0.0f);
    if (int(r) < keys.context - keys.tail) {
      value = rows[long(r) * args.v_slot_stride + d];
    }
    v_tail[r * kMaxDim + d] = value;
  }
}


template <typename T, uint RT>
METAL_FUNC void score_partition(MSL_DEVICE const T* k_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP const T* q_tile,
                                MSL_THREADGROUP float* s_tile, MSL_THREADGROUP T* scratch, PartTile keys, uint row_tiles,
                                uint sg, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  const long head_offset = long(keys.kv_head) * args.k_head_stride;
# 328 "Shaders/attention_partition.h"
  for (uint kt = keys.is_wide ? keys.key_tiles : sg; MSL_LOOP(kt < keys.key_tiles); kt += kSimdgroups) {
    score_keys<T, RT>(cache_rows(k_cache, blocks, uint(keys.p0) + kt * 8, args.block_size, args.k_block_stride,
                                 args.k_slot_stride, head_offset),
                      q_tile, s_tile, kt, row_tiles, args);
  }
}
# 337 "Shaders/attention_partition.h"
template <typename T, uint RT>
METAL_FUNC void sum_partition(MSL_DEVICE const T* v_cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP float* s_tile,
                              MSL_THREADGROUP T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
  const uint first_column = sg * columns;
  const long head_offset = long(keys.kv_head) * args.v_head_stride;
  simdgroup_matrix<float, 8, 8> acc[RT][COLS];

  for (uint r = 0; r < RT; ++r) {

    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
# 364 "Shaders/attention_partition.h"
  for (uint kt = keys.is_wide ? keys.key_tiles : 0; kt < keys.key_tiles; ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    MSL_DEVICE const T* rows =
        cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride, args.v_slot_stride, head_offset);
    simdgroup_matrix<T, 8, 8> weights[RT];

    for (uint r = 0; r < RT; ++r) {

      if (r < row_tiles) {
        simdgroup_load(weights[r], (MSL_THREADGROUP T*)(s_tile) + r * 8 * LDW + kt * 8, LDW);
      }
    }
    add_values<T, RT, COLS>(acc, weights, rows, (MSL_THREADGROUP const T*)(v_tail), int(key) == keys.tail, first_column,
                            columns, row_tiles, args);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
# 386 "Shaders/attention_partition.h"
  store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
}
