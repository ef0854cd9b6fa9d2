// One partition of latent_attention: scores, softmax, and the weighted sum of the values, for all types of caches.
#pragma once

#include "args/latent_attention.h"
#include "attention_int8.h"
#include "paged_attention.h"

constant constexpr uint kMaxLatentDim = 576;
constant constexpr uint kMaxValueTiles = 16;  // of 8 columns, per simdgroup: 512 values over four simdgroups
constant constexpr uint kLatentStride = kMaxLatentDim + 8;

// Start of a key's cached row; the rows of the following positions in its block come after it.
template <typename T>
METAL_FUNC device const T* latent_rows(device const T* cache, device const int* blocks, uint key,
                                       constant pagoda_args::LatentAttention& args) {
  return cache + long(blocks[key / args.block_size]) * args.block_stride +
         long(key % args.block_size) * args.slot_stride;
}

// The keys of one partition.
struct LatentKeys {
  int p0;  // the first key
  uint key_tiles;
  int context;
  int block;   // of the lane's tile of keys, for int8 caches
  int offset;  // in that block
};

METAL_FUNC LatentKeys latent_keys(device const int* blocks, int p0, uint key_tiles, int context, uint lane,
                                  constant pagoda_args::LatentAttention& args) {
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  LatentKeys keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
  return keys;
}

// Scores of all keys, 8 at a time, into s_tile. scratch: for int8 caches
template <typename T>
METAL_FUNC void score_latents(device const T* cache, device const int* blocks, threadgroup const T* q_tile,
                              threadgroup float* s_tile, threadgroup T* scratch, LatentKeys keys, uint sg, uint lane,
                              constant pagoda_args::LatentAttention& args) {
  for (uint kt = sg; kt < keys.key_tiles; kt += kSimdgroups) {
    device const T* rows = latent_rows(cache, blocks, uint(keys.p0) + kt * 8, args);
    SumTile acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll 8  // loads in flight
    for (uint d = 0; d < args.dim; d += 8) {
      simdgroup_matrix<T, 8, 8> k_mat;
      simdgroup_matrix<T, 8, 8> q_mat;
      simdgroup_load(k_mat, rows + d, ulong(args.slot_stride), ulong2(0, 0), true);
      simdgroup_load(q_mat, q_tile + d, kLatentStride);
      simdgroup_multiply_accumulate(acc, q_mat, k_mat, acc);
    }
    simdgroup_store(acc, s_tile + kt * 8, kPartition);
  }
}

template <typename T>
METAL_FUNC void score_latents(device const char* cache, device const int* blocks, threadgroup const T* q_tile,
                              threadgroup float* s_tile, threadgroup T* scratch, LatentKeys keys, uint sg, uint lane,
                              constant pagoda_args::LatentAttention& args) {
  for (uint pair = sg; 2 * pair < keys.key_tiles; pair += kSimdgroups) {
    device const char* rows[2];
    SumTile acc[2][1];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      const uint tile = 2 * pair + t < keys.key_tiles ? 2 * pair + t : 2 * pair;  // of an odd number: one of them twice
      rows[t] =
          row_of_lane(cache, keys.block, keys.offset, tile, lane, args.block_stride, args.slot_stride) + lane % 4 * 16;
      acc[t][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    score_codes<T, 1>(acc, rows[0], rows[1], args.dim, q_tile, kLatentStride,
                      (threadgroup uint*)(scratch) + sg * kScratch, lane);
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      // Only saves work: keys beyond key_tiles are not read.
      if (2 * pair + t < keys.key_tiles) {
        simdgroup_store(acc[t][0], s_tile + (2 * pair + t) * 8, kPartition, ulong2(0, 0), true);
      }
    }
  }
}

// Only int8 caches have scales: one for a row's key and value.
template <typename T>
METAL_FUNC void load_latent_scales(device const T* cache, device const int* blocks, threadgroup float* scales,
                                   LatentKeys keys, uint tid, constant pagoda_args::LatentAttention& args) {}

METAL_FUNC void load_latent_scales(device const char* cache, device const int* blocks, threadgroup float* scales,
                                   LatentKeys keys, uint tid, constant pagoda_args::LatentAttention& args) {
  for (uint i = tid; i < keys.key_tiles * 8; i += kThreads) {
    scales[i] = scale_of_row(latent_rows(cache, blocks, uint(keys.p0) + i, args), args.dim);
  }
}

// Softmax of one row within the partition, by one simdgroup: the weights (in T) overwrite the row's scores. scales: of
// int8 rows. largest, sum: the same in all lanes
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_latents(threadgroup const float* row, threadgroup T* weights, threadgroup const float* scales,
                              uint num_keys, int num_seen, float scale, uint lane, thread float& largest,
                              thread float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (int(at) < num_seen) {
      score[i] = row[at] * (IS_INT8 ? scales[at] * scale : scale);
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);  // all scores have been read
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const KeyWeight<T> weight = weight_of<T, IS_INT8>(int(at) < num_seen, score[i] - largest, scales, at);
    // Only saves work: weights beyond the last tile are not read.
    if (at < num_keys) {
      weights[at] = weight.of_codes;
    }
    sum += weight.share;
  }
  sum = simd_sum(sum);
}

// The weighted sum of the values: keys in order, the simdgroup's `columns` column tiles from `first_column`. scratch:
// of the simdgroup
template <typename T>
METAL_FUNC void sum_latents(thread SumTile (&acc)[1][kMaxValueTiles], device const T* cache, device const int* blocks,
                            threadgroup const T* weights, threadgroup T* scratch, LatentKeys keys, uint first_column,
                            uint columns, uint lane, constant pagoda_args::LatentAttention& args) {
  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    device const T* rows = latent_rows(cache, blocks, key, args);
    const int num_left = keys.context - int(key);  // the cache past the context may hold anything, including NaN
    simdgroup_matrix<T, 8, 8> of_keys;
    simdgroup_load(of_keys, weights + kt * 8, kPartition * 4 / sizeof(T));
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      // Only saves work: the sums of other columns are not read.
      if (c < columns && first_column + c < args.value_dim / 8) {
        simdgroup_matrix<T, 8, 8> v_mat;
        // Only saves work: the values of 8 existing keys could take the same path.
        if (num_left < 8) {
          simdgroup_barrier(mem_flags::mem_threadgroup);  // the previous tile has been read
          for (uint i = lane; i < 64; i += 32) {
            T value = T(0.0f);
            if (int(i / 8) < num_left) {
              value = rows[long(i / 8) * args.slot_stride + (first_column + c) * 8 + i % 8];
            }
            scratch[i] = value;
          }
          simdgroup_barrier(mem_flags::mem_threadgroup);
          simdgroup_load(v_mat, (threadgroup const T*)(scratch), 8);
        } else {
          simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.slot_stride));
        }
        simdgroup_multiply_accumulate(acc[0][c], of_keys, v_mat, acc[0][c]);
      }
    }
  }
}

// Columns are in the order of column_in_sums().
template <typename T>
METAL_FUNC void sum_latents(thread SumTile (&acc)[1][kMaxValueTiles], device const char* cache,
                            device const int* blocks, threadgroup const T* weights, threadgroup T* scratch,
                            LatentKeys keys, uint first_column, uint columns, uint lane,
                            constant pagoda_args::LatentAttention& args) {
  const uint last = (first_column + columns) * 8, end = last < args.value_dim ? last : args.value_dim;
  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    device const char* row = row_of_lane(cache, keys.block, keys.offset, kt, lane, args.block_stride, args.slot_stride);
    simdgroup_matrix<T, 8, 8> of_keys[1];
    simdgroup_load(of_keys[0], weights + kt * 8, kPartition * 4 / sizeof(T));
    add_codes<T, 1, kMaxValueTiles>(acc, of_keys, row, first_column * 8, end, (threadgroup uint*)(scratch), lane);
  }
}

// The column of element i of a row of column tile c.
template <bool IS_INT8>
METAL_FUNC uint latent_column(uint c, uint i) {
  return IS_INT8 ? c / 4 * kValueColumns + i / 2 * 8 + c % 4 * 2 + i % 2 : c * 8 + i;
}
