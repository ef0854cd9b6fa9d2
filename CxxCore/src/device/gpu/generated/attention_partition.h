// attention_partition.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/attention_partition.h"
#include "device/gpu/generated/paged_attention.h"
#include "device/gpu/generated/tiles.h"


template <typename T>
METAL_FUNC MSL_DEVICE const T* cache_rows(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, uint key, uint block_size,
                                      long block_stride, long place_stride, long head_offset) {
  return cache + long(blocks[key / block_size]) * block_stride + long(key % block_size) * place_stride + head_offset;
}


template <typename T, uint RT>
METAL_FUNC void score_keys(MSL_DEVICE const T* rows, MSL_THREADGROUP const T* q_tile, MSL_THREADGROUP float* s_tile, uint kt,
                           uint row_tiles, MSL_CONSTANT pagoda_args::PagedAttention& args) {
  constexpr uint LDQ = kMaxDim + 8;
  simdgroup_matrix<float, 8, 8> acc[RT];

  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }

  for (uint d = 0; d < args.dim; d += 8) {
    simdgroup_matrix<T, 8, 8> k_mat;
    simdgroup_load(k_mat, rows + d, ulong(args.k_place_stride), ulong2(0, 0), true);

    for (uint r = 0; r < RT; ++r) {

      if (r < row_tiles) {
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(q_mat, q_tile + r * 8 * LDQ + d, LDQ);
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
# 49 "Shaders/attention_partition.h"
template <typename T>
METAL_FUNC void weigh_scores(MSL_THREADGROUP const float* row, MSL_THREADGROUP T* weights, int p0, uint num_keys, int position,
                             uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args, MSL_THREAD float& largest,
                             MSL_THREAD float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;

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
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;

  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const bool seen = at < num_keys && is_visible(p0 + int(at), position, args.window);
    const T weight = T(seen ? precise::exp(score[i] - largest) : 0.0f);

    if (at < num_keys) {
      weights[at] = weight;
    }
    sum += float(weight);
  }
  sum = simd_sum(sum);
}


template <typename T>
METAL_FUNC void load_tail(MSL_DEVICE const T* rows, MSL_THREADGROUP T* v_tail, int num_left, uint tid,
                          MSL_CONSTANT pagoda_args::PagedAttention& args) {
  for (uint i = tid; MSL_LOOP(i < 8 * args.dim); i += 128) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    T value = T(0.0f);
    if (int(r) < num_left) {
      value = rows[long(r) * args.v_place_stride + d];
    }
    v_tail[r * kMaxDim + d] = value;
  }
}
# 102 "Shaders/attention_partition.h"
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
        simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.v_place_stride));
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
