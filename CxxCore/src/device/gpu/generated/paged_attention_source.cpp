// The text of paged_attention.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource paged_attention_source() noexcept {
  return {"paged_attention",
R"msl(#pragma METAL fp contract(off)
// paged_attention: a tile of rows against its sequence's partitions, and their merge; paged_attention.h has the order.
#include "attention_partition.h"

// RT tiles of 8 rows. Grid: [tiles, KV heads, partitions]; tiles of several tokens run at partition 0 only, and walk.
template <typename T, uint RT>
[[max_total_threads_per_threadgroup(128)]]
kernel void paged_attention(device const float* q [[buffer(0)]],
                            device const T* k_cache [[buffer(1)]],
                            device const T* v_cache [[buffer(2)]],
                            device const int* cu_seqlens [[buffer(3)]],
                            device const int* context_lens [[buffer(4)]],
                            device const int* block_tables [[buffer(5)]],
                            device const float* sinks [[buffer(6)]],
                            device float* partials [[buffer(7)]],
                            device float* out [[buffer(8)]],
                            constant pagoda_args::PagedAttention& args [[buffer(9)]],
                            uint3 tg [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint LDQ = kMaxDim + 8;
  constexpr uint LDP = kScores * 4 / sizeof(T);      // weights take the place of their row's scores
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;  // column tiles of the output a simdgroup makes
  constexpr uint EACH = ROWS * kMaxDim / 128;       // output elements a thread keeps

  threadgroup T q_tile[ROWS * LDQ];
  threadgroup float s_tile[ROWS * kScores];     // scores, weights, then the partition's output
  threadgroup T v_tail[8 * kMaxDim];            // the values of the last 8 keys, zero beyond the end
  threadgroup float part_max[ROWS];
  threadgroup float part_sum[ROWS];
  threadgroup float row_max[ROWS];
  threadgroup float row_sum[ROWS];
  threadgroup float factors[2 * ROWS];  // that the total and the partition are scaled by

  const uint seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.group, ROWS);
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int context = context_lens[seq];
  const int row0 = int((tg.x - first_tile(cu_seqlens, seq, args.group, ROWS)) * ROWS);
  const int num_rows = min(int(ROWS), tokens * int(args.group) - row0);
  const bool is_split = tokens == 1 && args.is_split != 0;
  if (num_rows <= 0 || (!is_split && tg.z > 0)) {
    return;
  }
  const int first_position = context - tokens + row0 / int(args.group);
  const int last_position = context - tokens + (row0 + num_rows - 1) / int(args.group);
  uint part = first_part(first_position, args.window);
  uint last = uint(last_position) / kPartition;
  if (is_split) {
    if (tg.z < part || tg.z > last) {
      return;
    }
    part = tg.z;
    last = tg.z;
  }
  const uint row_tiles = (uint(num_rows) + 7) / 8;
  device const int* blocks = block_tables + long(seq) * args.table_stride;

  // Rows beyond the last are the last again. A thread has the dims d and d + 128 of all rows, whose loads are in flight
  // at once.
  #pragma unroll
  for (uint i = 0; i < kMaxDim / 128; ++i) {
    const uint d = tid + 128 * i;
    float v[ROWS];
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      const int flat = row0 + min(int(r), num_rows - 1);
      const long head = long(tg.y) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * LDQ + d] = T(v[r]);
    }
  }
  if (tid < ROWS) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  float total[EACH];
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
#ifdef __MSL_PAIRED_MMA__
  const bool wide = sizeof(T) == 2 &&
                    is_wide(k_cache, args.k_block_stride, args.k_place_stride, args.k_head_stride) &&
                    is_wide(v_cache, args.v_block_stride, args.v_place_stride, args.v_head_stride);
#else
  const bool wide = false;
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (; part <= last; ++part) {
    const int p0 = int(part * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;
    const int tail_tile = context / 8 * 8;  // the first key of the tile that the context ends in

    const bool is_tail = p0 + int(key_tiles) * 8 > context;
#ifdef __MSL_PAIRED_MMA__
    const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;  // the lane's tile of keys
    const long block = long(blocks[own / args.block_size]);
    const long place = long(own % args.block_size);
#endif

    // Scores, 8 keys at a time.
#ifdef __MSL_PAIRED_MMA__
    if constexpr (sizeof(T) == 2) {
      if (wide) {
        score_keys_wide<T, RT>(k_cache,
                               block * args.k_block_stride + place * args.k_place_stride +
                                   long(tg.y) * args.k_head_stride,
                               (threadgroup const T*)(q_tile), s_tile, key_tiles, row_tiles, sg, lane, args);
      }
    }
#endif
    for (uint kt = wide ? key_tiles : sg; kt < key_tiles; kt += kSimdgroups) {
      const uint key = uint(p0) + kt * 8;
      score_keys<T, RT>(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride, args.k_place_stride,
                                   long(tg.y) * args.k_head_stride),
                        (threadgroup const T*)(q_tile), s_tile, kt, row_tiles, args);
    }
    if (is_tail && !wide) {
      load_tail(cache_rows(v_cache, blocks, uint(tail_tile), args.block_size, args.v_block_stride, args.v_place_stride,
                           long(tg.y) * args.v_head_stride),
                v_tail, context - tail_tile, tid, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // Softmax of each row, within the partition.
    for (uint r = sg; r < uint(num_rows); r += kSimdgroups) {
      const int position = context - tokens + (row0 + int(r)) / int(args.group);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_scores((threadgroup const float*)(s_tile + r * kScores), (threadgroup T*)(s_tile) + r * LDP, p0,
                   key_tiles * 8, position, lane, args, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (int(tid) < num_rows) {
      const float largest = max(row_max[tid], part_max[tid]);
      const float total_factor = precise::exp(row_max[tid] - largest);
      const float part_factor = precise::exp(part_max[tid] - largest);
      row_sum[tid] = merged(row_sum[tid], total_factor, part_sum[tid], part_factor);
      row_max[tid] = largest;
      factors[tid] = total_factor;
      factors[ROWS + tid] = part_factor;
    }

    // The weighted sum of the values: keys in order, a simdgroup for each quarter of the columns.
    const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
    const uint first_column = sg * columns;
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
      if (wide) {
        add_values_wide<T, RT>(acc, v_cache,
                               block * args.v_block_stride + place * args.v_place_stride +
                                   long(tg.y) * args.v_head_stride,
                               (threadgroup const T*)(s_tile), LDP, key_tiles, context - p0, sg, lane, args);
      }
    }
#endif
    #pragma unroll 4
    for (uint kt = wide ? key_tiles : 0; kt < key_tiles; ++kt) {
      const uint key = uint(p0) + kt * 8;
      device const T* rows = cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride,
                                        args.v_place_stride, long(tg.y) * args.v_head_stride);
      simdgroup_matrix<T, 8, 8> weights[RT];
      #pragma unroll
      for (uint r = 0; r < RT; ++r) {
        if (r < row_tiles) {
          simdgroup_load(weights[r], (threadgroup T*)(s_tile) + r * 8 * LDP + kt * 8, LDP);
        }
      }
      add_values<T, RT, COLS>(acc, weights, rows, (threadgroup const T*)(v_tail), int(key) == tail_tile, first_column,
                              columns, row_tiles, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // all weights are read
#ifdef __MSL_PAIRED_MMA__
    if (wide) {
      store_values_wide<RT>(acc, s_tile, row_tiles, sg, lane, args);
    } else {
      store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
    }
#else
    store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);

    #pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint r = (tid + 128 * i) / kMaxDim;
      const uint d = (tid + 128 * i) % kMaxDim;
      if (int(r) < num_rows && d < args.dim) {
        total[i] = merged(total[i], factors[r], s_tile[r * kScores + d], factors[ROWS + r]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + 128 * i) / kMaxDim;
    const uint d = (tid + 128 * i) % kMaxDim;
    if (int(r) < num_rows && d < args.dim) {
      const long token = begin + (row0 + int(r)) / int(args.group);
      const long head = long(tg.y) * args.group + (row0 + int(r)) % int(args.group);
      if (is_split) {
        device float* to = partials + ((long(seq) * args.heads + head) * args.max_parts + long(tg.z)) * (args.dim + 2);
        to[d] = total[i];
        if (d == 0) {
          to[args.dim] = row_max[r];
          to[args.dim + 1] = row_sum[r];
        }
      } else {
        const float sink = use_sinks ? sinks[head] : 0.0f;
        out[token * args.out_stride + head * args.out_head_stride + d] =
            total[i] * scale_to_end(row_max[r], row_sum[r], sink);
      }
    }
  }
}

#define INSTANTIATE(NAME, T, RT) \
  template [[host_name("paged_attention_" NAME "_" #RT)]] \
  kernel decltype(paged_attention<T, RT>) paged_attention<T, RT>;

INSTANTIATE("f32", float, 1)
INSTANTIATE("f16", half, 1)
INSTANTIATE("f16", half, 2)
INSTANTIATE("bf16", bfloat, 1)
INSTANTIATE("bf16", bfloat, 2)

// Single tokens: their partitions, in order. Grid: [heads, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void paged_attention_reduce(device const float* partials [[buffer(0)]],
                                   device const int* cu_seqlens [[buffer(1)]],
                                   device const int* context_lens [[buffer(2)]],
                                   device const float* sinks [[buffer(3)]],
                                   device float* out [[buffer(4)]],
                                   constant pagoda_args::PagedAttention& args [[buffer(5)]],
                                   uint2 tg [[threadgroup_position_in_grid]],
                                   uint tid [[thread_index_in_threadgroup]]) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const int position = context_lens[tg.y] - 1;
  device const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * (args.dim + 2);
  const float sink = use_sinks ? sinks[tg.x] : 0.0f;
  for (uint d = tid; d < args.dim; d += 128) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
)msl"
R"msl(    for (uint part = first_part(position, args.window); part <= uint(position) / kPartition; ++part) {
      device const float* from = parts + long(part) * (args.dim + 2);
      const float next = max(largest, from[args.dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] =
        total * scale_to_end(largest, sum, sink);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/paged_attention.metal"
#include "Shaders/attention_partition.h"


template <typename T, uint RT>

MSL_KERNEL void paged_attention(MSL_DEVICE const float* q ,
                            MSL_DEVICE const T* k_cache ,
                            MSL_DEVICE const T* v_cache ,
                            MSL_DEVICE const int* cu_seqlens ,
                            MSL_DEVICE const int* context_lens ,
                            MSL_DEVICE const int* block_tables ,
                            MSL_DEVICE const float* sinks ,
                            MSL_DEVICE float* partials ,
                            MSL_DEVICE float* out ,
                            MSL_CONSTANT pagoda_args::PagedAttention& args ,
                            uint3 tg ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  constexpr uint ROWS = 8 * RT;
  constexpr uint LDQ = kMaxDim + 8;
  constexpr uint LDP = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  constexpr uint EACH = ROWS * kMaxDim / 128;

  MSL_TG_VAR(1, q_tile, [ROWS*LDQ], T)
  MSL_TG_VAR(2, s_tile, [ROWS*kScores], float)
  MSL_TG_VAR(3, v_tail, [8*kMaxDim], T)
  MSL_TG_VAR(4, part_max, [ROWS], float)
  MSL_TG_VAR(5, part_sum, [ROWS], float)
  MSL_TG_VAR(6, row_max, [ROWS], float)
  MSL_TG_VAR(7, row_sum, [ROWS], float)
  MSL_TG_VAR(8, factors, [2*ROWS], float)

  const uint seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.group, ROWS);
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int context = context_lens[seq];
  const int row0 = int((tg.x - first_tile(cu_seqlens, seq, args.group, ROWS)) * ROWS);
  const int num_rows = min(int(ROWS), tokens * int(args.group) - row0);
  const bool is_split = tokens == 1 && args.is_split != 0;
  if (num_rows <= 0 || (!is_split && tg.z > 0)) {
    return;
  }
  const int first_position = context - tokens + row0 / int(args.group);
  const int last_position = context - tokens + (row0 + num_rows - 1) / int(args.group);
  uint part = first_part(first_position, args.window);
  uint last = uint(last_position) / kPartition;
  if (is_split) {
    if (tg.z < part || tg.z > last) {
      return;
    }
    part = tg.z;
    last = tg.z;
  }
  const uint row_tiles = (uint(num_rows) + 7) / 8;
  MSL_DEVICE const int* blocks = block_tables + long(seq) * args.table_stride;
# 62 "Shaders/paged_attention.metal"
#pragma unroll
  for (uint i = 0; i < kMaxDim / 128; ++i) {
    const uint d = tid + 128 * i;
    float v[ROWS];
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      const int flat = row0 + min(int(r), num_rows - 1);
      const long head = long(tg.y) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * LDQ + d] = T(v[r]);
    }
  }
  if (tid < ROWS) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  float total[EACH];
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }

  const bool wide = sizeof(T) == 2 &&
                    is_wide(k_cache, args.k_block_stride, args.k_place_stride, args.k_head_stride) &&
                    is_wide(v_cache, args.v_block_stride, args.v_place_stride, args.v_head_stride);
# 96 "Shaders/paged_attention.metal"
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (; part <= last; ++part) {
    const int p0 = int(part * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;
    const int tail_tile = context / 8 * 8;

    const bool is_tail = p0 + int(key_tiles) * 8 > context;

    const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
    const long block = long(blocks[own / args.block_size]);
    const long place = long(own % args.block_size);
# 113 "Shaders/paged_attention.metal"
    if constexpr (sizeof(T) == 2) {
      if (wide) {
        score_keys_wide<T, RT>(k_cache,
                               block * args.k_block_stride + place * args.k_place_stride +
                                   long(tg.y) * args.k_head_stride,
                               (MSL_THREADGROUP const T*)(q_tile), s_tile, key_tiles, row_tiles, sg, lane, args);
      }
    }

    for (uint kt = wide ? key_tiles : sg; kt < key_tiles; kt += kSimdgroups) {
      const uint key = uint(p0) + kt * 8;
      score_keys<T, RT>(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride, args.k_place_stride,
                                   long(tg.y) * args.k_head_stride),
                        (MSL_THREADGROUP const T*)(q_tile), s_tile, kt, row_tiles, args);
    }
    if (is_tail && !wide) {
      load_tail(cache_rows(v_cache, blocks, uint(tail_tile), args.block_size, args.v_block_stride, args.v_place_stride,
                           long(tg.y) * args.v_head_stride),
                v_tail, context - tail_tile, tid, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    for (uint r = sg; r < uint(num_rows); r += kSimdgroups) {
      const int position = context - tokens + (row0 + int(r)) / int(args.group);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_scores((MSL_THREADGROUP const float*)(s_tile + r * kScores), (MSL_THREADGROUP T*)(s_tile) + r * LDP, p0,
                   key_tiles * 8, position, lane, args, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (int(tid) < num_rows) {
      const float largest = max(row_max[tid], part_max[tid]);
      const float total_factor = precise::exp(row_max[tid] - largest);
      const float part_factor = precise::exp(part_max[tid] - largest);
      row_sum[tid] = merged(row_sum[tid], total_factor, part_sum[tid], part_factor);
      row_max[tid] = largest;
      factors[tid] = total_factor;
      factors[ROWS + tid] = part_factor;
    }


    const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
    const uint first_column = sg * columns;
    simdgroup_matrix<float, 8, 8> acc[RT][COLS];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
#pragma unroll
      for (uint c = 0; c < COLS; ++c) {
        acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }

    if constexpr (sizeof(T) == 2) {
      if (wide) {
        add_values_wide<T, RT>(acc, v_cache,
                               block * args.v_block_stride + place * args.v_place_stride +
                                   long(tg.y) * args.v_head_stride,
                               (MSL_THREADGROUP const T*)(s_tile), LDP, key_tiles, context - p0, sg, lane, args);
      }
    }

#pragma unroll 4
    for (uint kt = wide ? key_tiles : 0; kt < key_tiles; ++kt) {
      const uint key = uint(p0) + kt * 8;
      MSL_DEVICE const T* rows = cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride,
                                        args.v_place_stride, long(tg.y) * args.v_head_stride);
      simdgroup_matrix<T, 8, 8> weights[RT];
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        if (r < row_tiles) {
          simdgroup_load(weights[r], (MSL_THREADGROUP T*)(s_tile) + r * 8 * LDP + kt * 8, LDP);
        }
      }
      add_values<T, RT, COLS>(acc, weights, rows, (MSL_THREADGROUP const T*)(v_tail), int(key) == tail_tile, first_column,
                              columns, row_tiles, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    if (wide) {
      store_values_wide<RT>(acc, s_tile, row_tiles, sg, lane, args);
    } else {
      store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
    }
# 204 "Shaders/paged_attention.metal"
    threadgroup_barrier(mem_flags::mem_threadgroup);

#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint r = (tid + 128 * i) / kMaxDim;
      const uint d = (tid + 128 * i) % kMaxDim;
      if (int(r) < num_rows && d < args.dim) {
        total[i] = merged(total[i], factors[r], s_tile[r * kScores + d], factors[ROWS + r]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + 128 * i) / kMaxDim;
    const uint d = (tid + 128 * i) % kMaxDim;
    if (int(r) < num_rows && d < args.dim) {
      const long token = begin + (row0 + int(r)) / int(args.group);
      const long head = long(tg.y) * args.group + (row0 + int(r)) % int(args.group);
      if (is_split) {
        MSL_DEVICE float* to = partials + ((long(seq) * args.heads + head) * args.max_parts + long(tg.z)) * (args.dim + 2);
        to[d] = total[i];
        if (d == 0) {
          to[args.dim] = row_max[r];
          to[args.dim + 1] = row_sum[r];
        }
      } else {
        const float sink = use_sinks ? sinks[head] : 0.0f;
        out[token * args.out_stride + head * args.out_head_stride + d] =
            total[i] * scale_to_end(row_max[r], row_sum[r], sink);
      }
    }
  }
}
# 252 "Shaders/paged_attention.metal"
MSL_KERNEL void paged_attention_reduce(MSL_DEVICE const float* partials ,
                                   MSL_DEVICE const int* cu_seqlens ,
                                   MSL_DEVICE const int* context_lens ,
                                   MSL_DEVICE const float* sinks ,
                                   MSL_DEVICE float* out ,
                                   MSL_CONSTANT pagoda_args::PagedAttention& args ,
                                   uint2 tg ,
                                   uint tid ) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const int position = context_lens[tg.y] - 1;
  MSL_DEVICE const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * (args.dim + 2);
  const float sink = use_sinks ? sinks[tg.x] : 0.0f;
  for (uint d = tid; d < args.dim; d += 128) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = first_part(position, args.window); part <= uint(position) / kPartition; ++part) {
      MSL_DEVICE const float* from = parts + long(part) * (args.dim + 2);
      const float next = max(largest, from[args.dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] =
        total * scale_to_end(largest, sum, sink);
  }
}

# 1 "paged_attention.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_reduce)
extern "C" __global__ void __launch_bounds__(128) paged_attention_reduce(const float* partials, const int* cu_seqlens, const int* context_lens, const float* sinks, float* out, const pagoda_args::PagedAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  paged_attention_reduce(partials, cu_seqlens, context_lens, sinks, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_f32_1)
extern "C" __global__ void __launch_bounds__(128, 2) paged_attention_f32_1(const float* q, const float* k_cache, const float* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
)msl"
R"msl(  paged_attention<float, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_f16_1)
extern "C" __global__ void __launch_bounds__(128) paged_attention_f16_1(const float* q, const half* k_cache, const half* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  paged_attention<half, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_f16_2)
extern "C" __global__ void __launch_bounds__(128, 2) paged_attention_f16_2(const float* q, const half* k_cache, const half* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  paged_attention<half, 2>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_bf16_1)
extern "C" __global__ void __launch_bounds__(128) paged_attention_bf16_1(const float* q, const bfloat* k_cache, const bfloat* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  paged_attention<bfloat, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_bf16_2)
extern "C" __global__ void __launch_bounds__(128, 2) paged_attention_bf16_2(const float* q, const bfloat* k_cache, const bfloat* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  paged_attention<bfloat, 2>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
