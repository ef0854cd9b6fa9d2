// One partition of paged_attention: scores, softmax, and the weighted sum of the values.
#pragma once

#include "paged_attention.h"

// Where the rows of a key or value and of those after it in its block begin.
template <typename T>
METAL_FUNC device const T* cache_rows(device const T* cache, device const int* blocks, uint key, uint block_size,
                                      long block_stride, long place_stride, long head_offset) {
  return cache + long(blocks[key / block_size]) * block_stride + long(key % block_size) * place_stride + head_offset;
}

// Scores of the simdgroup's keys, 8 at a time, into s_tile. rows: of K at the partition's key `kt * 8`
template <typename T, uint RT>
METAL_FUNC void score_keys(device const T* rows, threadgroup const T* q_tile, threadgroup float* s_tile, uint kt,
                           uint row_tiles, constant pagoda_args::PagedAttention& args) {
  constexpr uint LDQ = kMaxDim + 8;
  simdgroup_matrix<float, 8, 8> acc[RT];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
#pragma unroll 8  // loads in flight
  for (uint d = 0; d < args.dim; d += 8) {
    simdgroup_matrix<T, 8, 8> k_mat;
    simdgroup_load(k_mat, rows + d, ulong(args.k_place_stride), ulong2(0, 0), true);
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      if (r < row_tiles) {
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(q_mat, q_tile + r * 8 * LDQ + d, LDQ);
        simdgroup_multiply_accumulate(acc[r], q_mat, k_mat, acc[r]);
      }
    }
  }
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    // Only saves work: rows beyond row_tiles are not read.
    if (r < row_tiles) {
      simdgroup_store(acc[r], s_tile + r * 8 * kPartition + kt * 8, kPartition);
    }
  }
}

// The softmax of one row within the partition, by a simdgroup: weights (in T) take the place of their row's scores.
// largest, sum: the same in all lanes
template <typename T>
METAL_FUNC void weigh_scores(threadgroup const float* row, threadgroup T* weights, int p0, uint num_keys, int position,
                             uint lane, constant pagoda_args::PagedAttention& args, thread float& largest,
                             thread float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (at < num_keys && is_visible(p0 + int(at), position, args.window)) {
      float s = row[at] * args.scale;
      if (use_softcap) {
        s = args.softcap * precise::tanh(s / args.softcap);
      }
      score[i] = s;
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);  // all scores are read
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const bool seen = at < num_keys && is_visible(p0 + int(at), position, args.window);
    const T weight = T(seen ? precise::exp(score[i] - largest) : 0.0f);
    // Only saves work: weights beyond the last tile are not read.
    if (at < num_keys) {
      weights[at] = weight;
    }
    sum += float(weight);
  }
  sum = simd_sum(sum);
}

// The values of the last 8 keys, zero beyond the end: keys beyond the context may be anything, also NaN.
template <typename T>
METAL_FUNC void load_tail(device const T* rows, threadgroup T* v_tail, int num_left, uint tid,
                          constant pagoda_args::PagedAttention& args) {
  for (uint i = tid; i < 8 * args.dim; i += 128) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    T value = T(0.0f);
    if (int(r) < num_left) {
      value = rows[long(r) * args.v_place_stride + d];
    }
    v_tail[r * kMaxDim + d] = value;
  }
}

// acc += the weights of 8 keys times their values: COLS column tiles from first_column on, up to `columns` of them.
// is_tail: the values are in v_tail. Who loads the weights here too needs 12 registers more on NVIDIA.
template <typename T, uint RT, uint COLS>
METAL_FUNC void add_values(thread simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS],
                           thread simdgroup_matrix<T, 8, 8> (&w_mat)[RT], device const T* rows,
                           threadgroup const T* v_tail, bool is_tail, uint first_column, uint columns, uint row_tiles,
                           constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
      simdgroup_matrix<T, 8, 8> v_mat;
      if (is_tail) {
        simdgroup_load(v_mat, v_tail + (first_column + c) * 8, kMaxDim);
      } else {
        simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.v_place_stride));
      }
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        // Only saves work: rows beyond row_tiles are not read.
        if (r < row_tiles) {
          simdgroup_multiply_accumulate(acc[r][c], w_mat[r], v_mat, acc[r][c]);
        }
      }
    }
  }
}

template <uint RT, uint COLS>
METAL_FUNC void store_values(thread simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS], threadgroup float* s_tile,
                             uint first_column, uint columns, uint row_tiles,
                             constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        // Only saves work: rows beyond row_tiles are not read.
        if (r < row_tiles) {
          simdgroup_store(acc[r][c], s_tile + r * 8 * kPartition + (first_column + c) * 8, kPartition);
        }
      }
    }
  }
}
