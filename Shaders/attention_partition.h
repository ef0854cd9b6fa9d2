// One partition of paged_attention: scores, softmax, and the weighted sum of the values.
#pragma once

#include "paged_attention.h"
#include "tiles.h"

// Start of a key's or value's row; the rows of the following positions in its block come after it.
template <typename T>
METAL_FUNC device const T* cache_rows(device const T* cache, device const int* blocks, uint key, uint block_size,
                                      long block_stride, long slot_stride, long head_offset) {
  return cache + long(blocks[key / block_size]) * block_stride + long(key % block_size) * slot_stride + head_offset;
}

// Scores of the simdgroup's keys, 8 at a time, into s_tile. rows: of K, at key `kt * 8` of the partition
template <typename T, uint RT>
METAL_FUNC void score_keys(device const T* rows, threadgroup const T* q_tile, threadgroup float* s_tile, uint kt,
                           uint row_tiles, constant pagoda_args::PagedAttention& args) {
  simdgroup_matrix<float, 8, 8> acc[RT];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
#pragma unroll 8  // loads in flight
  for (uint d = 0; d < args.dim; d += 8) {
    simdgroup_matrix<T, 8, 8> k_mat;
    simdgroup_load(k_mat, rows + d, ulong(args.k_slot_stride), ulong2(0, 0), true);
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      // Only saves work: rows beyond row_tiles are not stored.
      if (r < row_tiles) {
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(q_mat, q_tile + r * 8 * kQueryStride + d, kQueryStride);
        simdgroup_multiply_accumulate(acc[r], q_mat, k_mat, acc[r]);
      }
    }
  }
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    // Only saves work: rows beyond row_tiles are not read.
    if (r < row_tiles) {
      simdgroup_store(acc[r], s_tile + r * 8 * kScores + kt * 8, kScores);
    }
  }
}

// Softmax of one row within the partition, by one simdgroup: the weights (in T) overwrite the row's scores. scales: of
// int8 keys and values. largest, sum: the same in all lanes
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_scores(threadgroup const float* row, threadgroup T* weights, threadgroup const float* scales,
                             int p0, uint num_keys, int position, uint lane, constant pagoda_args::PagedAttention& args,
                             thread float& largest, thread float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
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
  simdgroup_barrier(mem_flags::mem_threadgroup);  // all scores have been read
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const bool seen = at < num_keys && is_visible(p0 + int(at), position, args.window);
    const KeyWeight<T> weight = weight_of<T, IS_INT8>(seen, score[i] - largest, scales + kPartition, at);
    // Only saves work: weights beyond the last tile are not read.
    if (at < num_keys) {
      weights[at] = weight.of_codes;
    }
    sum += weight.share;
  }
  sum = simd_sum(sum);
}

// acc += the weights of 8 keys times their values: COLS column tiles starting at first_column, up to `columns` of them.
// is_tail: the values are in v_tail. Loading the weights here as well takes 12 more registers on NVIDIA.
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
        simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.v_slot_stride));
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
          simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + (first_column + c) * 8, kScores);
        }
      }
    }
  }
}

#ifdef __MSL_PAIRED_MMA__
// The same on NVIDIA for 16-bit caches: lanes read 16 bytes at once, in the order of tiles.h. Each lane holds the
// address of one tile of 8 keys, so that the block table is read once per partition.

// 8 elements of a row, or zeros.
template <typename T>
METAL_FUNC uint4 wide_load(device const T* at, bool is_inside) {
  uint4 v = uint4(0, 0, 0, 0);
  if (is_inside) {
    v = *(device const uint4*)(at);
  }
  return v;
}

template <typename T>
METAL_FUNC bool is_wide(device const T* cache, long block_stride, long slot_stride, long head_stride) {
  return msl_is_wide(cache) && (block_stride | slot_stride | head_stride) % 8 == 0;
}

// at: offset of the lane's tile of keys
template <typename T, uint RT>
METAL_FUNC void score_keys_wide(device const T* k_cache, long at, threadgroup const T* q_tile,
                                threadgroup float* s_tile, uint key_tiles, uint row_tiles, uint sg, uint lane,
                                constant pagoda_args::PagedAttention& args) {
  constexpr uint CHUNKS = kMaxDim / kChunk;
  constexpr uint AHEAD = CHUNKS / RT;  // chunks with loads in flight
  for (uint pair = sg; 2 * pair < key_tiles; pair += kSimdgroups) {
    device const T* rows[2];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      rows[t] = k_cache + simd_shuffle(at, ushort(min(2 * pair + t, key_tiles - 1))) +
                long(lane / 4) * args.k_slot_stride + lane % 4 * 16;
    }
    SumTile acc[RT][2];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      acc[r][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      acc[r][1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
#pragma unroll
    for (uint first = 0; first < CHUNKS; first += AHEAD) {
      uint k_words[AHEAD][2][kChunkTiles];
#pragma unroll
      for (uint c = 0; c < AHEAD; ++c) {
        const uint column = (first + c) * kChunk;
        const int left = int(args.dim) - int(column + lane % 4 * 16);
#pragma unroll
        for (uint t = 0; t < 2; ++t) {
          set_words(wide_load(rows[t] + column, left > 0), wide_load(rows[t] + column + 8, left > 8), k_words[c][t]);
        }
      }
#pragma unroll
      for (uint c = 0; c < AHEAD; ++c) {
        const uint column = (first + c) * kChunk + lane % 4 * 16;
        uint q_words[RT][kChunkTiles];
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          load_words((threadgroup const uint*)(q_tile + (min(r, row_tiles - 1) * 8 + lane / 4) * kQueryStride + column),
                     q_words[r]);
        }
        chunk_multiply<T, RT, 2>(acc, q_words, k_words[c], (threadgroup uint*)(s_tile), lane);
      }
    }
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
#pragma unroll
      for (uint t = 0; t < 2; ++t) {
        if (r < row_tiles && 2 * pair + t < key_tiles) {
          simdgroup_store(acc[r][t], s_tile + r * 8 * kScores + (2 * pair + t) * 8, kScores);
        }
      }
    }
  }
}

// acc[r][j]: of the simdgroup's 64 columns, those with index 8 n + j. Keys from `num_keys` on may hold anything.
template <typename T, uint RT>
METAL_FUNC void add_values_wide(thread SumTile (&acc)[RT][8], device const T* v_cache, long at,
                                threadgroup const T* weights, uint ld, uint key_tiles, int num_keys, uint sg, uint lane,
                                constant pagoda_args::PagedAttention& args) {
  const uint column = sg * 64 + lane / 4 * 8;
#pragma unroll(4 / RT)
  for (uint s = 0; s < (key_tiles + 1) / 2; ++s) {
    uint4 v[4];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const uint in_tile = lane % 4 * 2 + i % 2;
      const uint key = s * 16 + i / 2 * 8 + in_tile;
      device const T* row = v_cache + simd_shuffle(at, ushort(2 * s + i / 2)) + long(in_tile) * args.v_slot_stride;
      v[i] = wide_load(row + column, int(key) < num_keys && column < args.dim);
    }
    uint w[RT][2];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      threadgroup const T* row = weights + (r * 8 + lane / 4) * ld + s * 16 + lane % 4 * 2;
      w[r][0] = *(threadgroup const uint*)(row);
      w[r][1] = 0;
      if (2 * s + 1 < key_tiles) {
        w[r][1] = *(threadgroup const uint*)(row + 8);
      }
    }
#pragma unroll
    for (uint j = 0; j < 8; ++j) {
      msl_multiply_rows<T, RT>(acc, j, w, v);
    }
  }
}

template <uint RT>
METAL_FUNC void store_values_wide(thread SumTile (&acc)[RT][8], threadgroup float* s_tile, uint row_tiles, uint sg,
                                  uint lane, constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      const uint column = sg * 64 + (lane % 4 * 2 + i) * 8;
      if (r < row_tiles && column < args.dim) {
        threadgroup float* to = s_tile + (r * 8 + lane / 4) * kScores + column;
        *(threadgroup float4*)(to) =
            float4(acc[r][0].msl_at(i), acc[r][1].msl_at(i), acc[r][2].msl_at(i), acc[r][3].msl_at(i));
        *(threadgroup float4*)(to + 4) =
            float4(acc[r][4].msl_at(i), acc[r][5].msl_at(i), acc[r][6].msl_at(i), acc[r][7].msl_at(i));
      }
    }
  }
}
#endif

// The keys and values of one partition for a tile of rows.
struct PartTile {
  int p0;          // the first key
  uint key_tiles;  // of 8 keys
  int context;
  int tail;       // the first key of the tile of 8 in which the context ends
  bool has_tail;  // whether that tile is in this partition and has keys past the context
  bool is_wide;   // whether lanes read 16 bytes at once (NVIDIA)
  uint kv_head;
  int block;   // of the lane's tile of keys, if is_wide
  int offset;  // in that block
};

template <typename T>
METAL_FUNC PartTile keys_of(device const T* k_cache, device const T* v_cache, device const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            constant pagoda_args::PagedAttention& args) {
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
#ifdef __MSL_PAIRED_MMA__
  keys.is_wide = sizeof(T) == 2 && is_wide(k_cache, args.k_block_stride, args.k_slot_stride, args.k_head_stride) &&
                 is_wide(v_cache, args.v_block_stride, args.v_slot_stride, args.v_head_stride);
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
#endif
  return keys;
}

// The values of the last 8 keys, zero past the end: the cache past the context may hold anything, including NaN.
template <typename T>
METAL_FUNC void load_tail(device const T* v_cache, device const int* blocks, threadgroup T* v_tail, PartTile keys,
                          uint tid, constant pagoda_args::PagedAttention& args) {
  if (!keys.has_tail || keys.is_wide) {
    return;
  }
  device const T* rows = cache_rows(v_cache, blocks, uint(keys.tail), args.block_size, args.v_block_stride,
                                    args.v_slot_stride, long(keys.kv_head) * args.v_head_stride);
  for (uint i = tid; i < 8 * args.dim; i += kThreads) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    T value = T(0.0f);
    if (int(r) < keys.context - keys.tail) {
      value = rows[long(r) * args.v_slot_stride + d];
    }
    v_tail[r * kMaxDim + d] = value;
  }
}

// Scores of all keys, 8 at a time, into s_tile. scratch: for int8 caches
template <typename T, uint RT>
METAL_FUNC void score_partition(device const T* k_cache, device const int* blocks, threadgroup const T* q_tile,
                                threadgroup float* s_tile, threadgroup T* scratch, PartTile keys, uint row_tiles,
                                uint sg, uint lane, constant pagoda_args::PagedAttention& args) {
  const long head_offset = long(keys.kv_head) * args.k_head_stride;
#ifdef __MSL_PAIRED_MMA__
  if constexpr (sizeof(T) == 2) {
    if (keys.is_wide) {
      score_keys_wide<T, RT>(k_cache, keys.block * args.k_block_stride + keys.offset * args.k_slot_stride + head_offset,
                             q_tile, s_tile, keys.key_tiles, row_tiles, sg, lane, args);
    }
  }
#endif
  for (uint kt = keys.is_wide ? keys.key_tiles : sg; kt < keys.key_tiles; kt += kSimdgroups) {
    score_keys<T, RT>(cache_rows(k_cache, blocks, uint(keys.p0) + kt * 8, args.block_size, args.k_block_stride,
                                 args.k_slot_stride, head_offset),
                      q_tile, s_tile, kt, row_tiles, args);
  }
}

// The weighted sum of the values, which overwrites the weights in s_tile: keys in order, one simdgroup per quarter of
// the columns.
template <typename T, uint RT>
METAL_FUNC void sum_partition(device const T* v_cache, device const int* blocks, threadgroup float* s_tile,
                              threadgroup T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              constant pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);     // the weights overwrite the row's scores
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;  // column tiles of the output that a simdgroup computes
  const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
  const uint first_column = sg * columns;
  const long head_offset = long(keys.kv_head) * args.v_head_stride;
  simdgroup_matrix<float, 8, 8> acc[RT][COLS];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
#ifdef __MSL_PAIRED_MMA__
  if constexpr (sizeof(T) == 2) {
    if (keys.is_wide) {
      add_values_wide<T, RT>(
          acc, v_cache, keys.block * args.v_block_stride + keys.offset * args.v_slot_stride + head_offset,
          (threadgroup const T*)(s_tile), LDW, keys.key_tiles, keys.context - keys.p0, sg, lane, args);
    }
  }
#endif
#pragma unroll 4
  for (uint kt = keys.is_wide ? keys.key_tiles : 0; kt < keys.key_tiles; ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    device const T* rows =
        cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride, args.v_slot_stride, head_offset);
    simdgroup_matrix<T, 8, 8> weights[RT];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      // Only saves work: weights beyond row_tiles are not used.
      if (r < row_tiles) {
        simdgroup_load(weights[r], (threadgroup T*)(s_tile) + r * 8 * LDW + kt * 8, LDW);
      }
    }
    add_values<T, RT, COLS>(acc, weights, rows, (threadgroup const T*)(v_tail), int(key) == keys.tail, first_column,
                            columns, row_tiles, args);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);  // all weights have been read
#ifdef __MSL_PAIRED_MMA__
  if (keys.is_wide) {
    store_values_wide<RT>(acc, s_tile, row_tiles, sg, lane, args);
    return;
  }
#endif
  store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
}
