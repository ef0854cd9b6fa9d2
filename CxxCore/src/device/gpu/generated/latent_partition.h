// latent_partition.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/latent_partition.h"
#include "device/gpu/generated/args_latent_attention.h"
#include "device/gpu/generated/attention_int8.h"
#include "device/gpu/generated/paged_attention.h"

MSL_CONSTANT constexpr uint kMaxLatentDim = 576;
MSL_CONSTANT constexpr uint kMaxValueTiles = 16;
MSL_CONSTANT constexpr uint kLatentStride = kMaxLatentDim + 8;


template <typename T>
METAL_FUNC MSL_DEVICE const T* latent_rows(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, uint key,
                                       MSL_CONSTANT pagoda_args::LatentAttention& args) {
  return cache + long(blocks[key / args.block_size]) * args.block_stride +
         long(key % args.block_size) * args.slot_stride;
}


struct LatentKeys {
  int p0;
  uint key_tiles;
  int context;
  int block;
  int offset;
};

METAL_FUNC LatentKeys latent_keys(MSL_DEVICE const int* blocks, int p0, uint key_tiles, int context, uint lane,
                                  MSL_CONSTANT pagoda_args::LatentAttention& args) {
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  LatentKeys keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
  return keys;
}


template <typename T>
METAL_FUNC void score_latents(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP const T* q_tile,
                              MSL_THREADGROUP float* s_tile, MSL_THREADGROUP T* scratch, LatentKeys keys, uint sg, uint lane,
                              MSL_CONSTANT pagoda_args::LatentAttention& args) {
  for (uint kt = sg; MSL_LOOP(kt < keys.key_tiles); kt += kSimdgroups) {
    MSL_DEVICE const T* rows = latent_rows(cache, blocks, uint(keys.p0) + kt * 8, args);
    SumTile acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

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
METAL_FUNC void score_latents(MSL_DEVICE const char* cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP const T* q_tile,
                              MSL_THREADGROUP float* s_tile, MSL_THREADGROUP T* scratch, LatentKeys keys, uint sg, uint lane,
                              MSL_CONSTANT pagoda_args::LatentAttention& args) {
  for (uint pair = sg; MSL_LOOP(2 * pair < keys.key_tiles); pair += kSimdgroups) {
    MSL_DEVICE const char* rows[2];
    SumTile acc[2][1];

    for (uint t = 0; t < 2; ++t) {
      const uint tile = 2 * pair + t < keys.key_tiles ? 2 * pair + t : 2 * pair;
      rows[t] =
          row_of_lane(cache, keys.block, keys.offset, tile, lane, args.block_stride, args.slot_stride) + lane % 4 * 16;
      acc[t][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    score_codes<T, 1>(acc, rows[0], rows[1], args.dim, q_tile, kLatentStride,
                      (MSL_THREADGROUP uint*)(scratch) + sg * kScratch, lane);

    for (uint t = 0; t < 2; ++t) {

      if (2 * pair + t < keys.key_tiles) {
        simdgroup_store(acc[t][0], s_tile + (2 * pair + t) * 8, kPartition, ulong2(0, 0), true);
      }
    }
  }
}


template <typename T>
METAL_FUNC void load_latent_scales(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP float* scales,
                                   LatentKeys keys, uint tid, MSL_CONSTANT pagoda_args::LatentAttention& args) {}

METAL_FUNC void load_latent_scales(MSL_DEVICE const char* cache, MSL_DEVICE const int* blocks, MSL_THREADGROUP float* scales,
                                   LatentKeys keys, uint tid, MSL_CONSTANT pagoda_args::LatentAttention& args) {
  for (uint i = tid; MSL_LOOP(i < keys.key_tiles * 8); i += kThreads) {
    scales[i] = scale_of_row(latent_rows(cache, blocks, uint(keys.p0) + i, args), args.dim);
  }
}
# 101 "Shaders/latent_partition.h"
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_latents(MSL_THREADGROUP const float* row, MSL_THREADGROUP T* weights, MSL_THREADGROUP const float* scales,
                              uint num_keys, int num_seen, float scale, uint lane, MSL_THREAD float& largest,
                              MSL_THREAD float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;

  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (int(at) < num_seen) {
      score[i] = row[at] * (IS_INT8 ? scales[at] * scale : scale);
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;

  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const KeyWeight<T> weight = weight_of<T, IS_INT8>(int(at) < num_seen, score[i] - largest, scales, at);

    if (at < num_keys) {
      weights[at] = weight.of_codes;
    }
    sum += weight.share;
  }
  sum = simd_sum(sum);
}
# 134 "Shaders/latent_partition.h"
template <typename T>
METAL_FUNC void sum_latents(MSL_THREAD SumTile (&acc)[1][kMaxValueTiles], MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks,
                            MSL_THREADGROUP const T* weights, MSL_THREADGROUP T* scratch, LatentKeys keys, uint first_column,
                            uint columns, uint lane, MSL_CONSTANT pagoda_args::LatentAttention& args) {
  for (uint kt = 0; MSL_LOOP(kt < keys.key_tiles); ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    MSL_DEVICE const T* rows = latent_rows(cache, blocks, key, args);
    const int num_left = keys.context - int(key);
    simdgroup_matrix<T, 8, 8> of_keys;
    simdgroup_load(of_keys, weights + kt * 8, kPartition * 4 / sizeof(T));

    for (uint c = 0; c < kMaxValueTiles; ++c) {

      if (c < columns && first_column + c < args.value_dim / 8) {
        simdgroup_matrix<T, 8, 8> v_mat;

        if (num_left < 8) {
          simdgroup_barrier(mem_flags::mem_threadgroup);
          for (uint i = lane; MSL_LOOP(i < 64); i += 32) {
            T value = T(0.0f);
            if (int(i / 8) < num_left) {
              value = rows[long(i / 8) * args.slot_stride + (first_column + c) * 8 + i % 8];
            }
            scratch[i] = value;
          }
          simdgroup_barrier(mem_flags::mem_threadgroup);
          simdgroup_load(v_mat, (MSL_THREADGROUP const T*)(scratch), 8);
        } else {
          simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.slot_stride));
        }
        simdgroup_multiply_accumulate(acc[0][c], of_keys, v_mat, acc[0][c]);
      }
    }
  }
}


template <typename T>
METAL_FUNC void sum_latents(MSL_THREAD SumTile (&acc)[1][kMaxValueTiles], MSL_DEVICE const char* cache,
                            MSL_DEVICE const int* blocks, MSL_THREADGROUP const T* weights, MSL_THREADGROUP T* scratch,
                            LatentKeys keys, uint first_column, uint columns, uint lane,
                            MSL_CONSTANT pagoda_args::LatentAttention& args) {
  const uint last = (first_column + columns) * 8, end = last < args.value_dim ? last : args.value_dim;
  for (uint kt = 0; MSL_LOOP(kt < keys.key_tiles); ++kt) {
    MSL_DEVICE const char* row = row_of_lane(cache, keys.block, keys.offset, kt, lane, args.block_stride, args.slot_stride);
    simdgroup_matrix<T, 8, 8> of_keys[1];
    simdgroup_load(of_keys[0], weights + kt * 8, kPartition * 4 / sizeof(T));
    add_codes<T, 1, kMaxValueTiles>(acc, of_keys, row, first_column * 8, end, (MSL_THREADGROUP uint*)(scratch), lane);
  }
}


template <bool IS_INT8>
METAL_FUNC uint latent_column(uint c, uint i) {
  return IS_INT8 ? c / 4 * kValueColumns + i / 2 * 8 + c % 4 * 2 + i % 2 : c * 8 + i;
}
