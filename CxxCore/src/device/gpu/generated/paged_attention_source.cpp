// The text of paged_attention.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource paged_attention_source() noexcept {
  return {"paged_attention",
R"msl(#pragma METAL fp contract(off)
// paged_attention: a tile of rows against its sequence's partitions, and their merge; paged_attention.h has the order.
// One partition of paged_attention: scores, softmax, and the weighted sum of the values.

// paged_attention: causal attention of flat rows over the paged cache, varlen, prompts and single tokens in one launch.
//
// Positions are cut into partitions of 256, at absolute places. Within one a row's softmax is plain: all scores,
// their maximum, the weights (rounded to the cache's type), then one sum over the values, keys in order. Partitions are
// merged in order. So a row's bits depend on its own prefix only: not on who shares its tile, nor on whether partitions
// ran side by side (single tokens: each to `partials`, merged by paged_attention_reduce) or one after the other.
//
// The rows of a tile are the (token, head) pairs of one sequence that share a KV head, token by token: keys and values
// are loaded once for all of them. Sums over d and over keys are those of 8x8 matrix products.

// Arguments of paged_attention.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct PagedAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;  // elements
  long k_block_stride, k_place_stride, k_head_stride;         // of the key cache
  long v_block_stride, v_place_stride, v_head_stride;         // of the value cache
  long table_stride;                                          // block ids from one sequence to the next
  uint num_sequences;
  uint heads, group;  // query heads, and how many of them share a KV head
  uint dim;           // a multiple of 8, at most 256
  uint block_size;    // a multiple of 8
  uint max_parts;     // partitions of 256 positions that the partial results have room for
  uint window;        // positions a row sees, itself included (use_window)
  float scale;
  float softcap;  // (use_softcap)
  uint is_split;  // whether single tokens have a threadgroup for each partition
};
static_assert(sizeof(PagedAttention) == 128, "host and kernel agree");

}  // namespace pagoda_args
// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite substitute for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

// Elements first, first + stride, ..., all in flight at once; 0 from `end` on.
template <uint N>
METAL_FUNC void load_ahead(device const float* from, uint first, uint stride, uint end, thread float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}

// The sum of v over all threads of the threadgroup, in one order: lanes by butterfly, then simdgroups by index.
// `partial` has an element for each simdgroup; it may be used again after the caller's next barrier.
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}

// The sequence whose rows hold `row`.
METAL_FUNC uint sequence_of_row(device const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// Multiplies tile[0 .. block) with the Hadamard matrix, in place: additions in the order of strides 1, 2, 4, ...
// All threads of the threadgroup call it; the tile is complete and visible to all when it returns.
METAL_FUNC void rotate(threadgroup float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// The number that eight or four bits of a quantised row stand for, before the row's scale.
METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}

// acc[i][j] += a[i] * b[j] over 8x8 tiles.
template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(thread simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         thread simdgroup_matrix<T, 8, 8> (&a)[R],
                                         thread simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's smallest tile is 16x8: two of ours side by side.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
#endif
  }
}

constant bool use_window [[function_constant(0)]];
constant bool use_softcap [[function_constant(1)]];
constant bool use_sinks [[function_constant(2)]];

constant constexpr uint kPartition = 256;  // positions; part of the result's bits
constant constexpr uint kMaxDim = 256;
constant constexpr uint kSimdgroups = 4;

// The tile of the grid that holds the first rows of sequence b: no two sequences share one.
METAL_FUNC uint first_tile(device const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(device const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// The first partition that a row at `position` sees anything of.
METAL_FUNC uint first_part(int position, uint window) {
  const int begin = use_window ? max(0, position - int(window) + 1) : 0;
  return uint(begin) / kPartition;
}

METAL_FUNC bool is_visible(int key, int position, uint window) {
  return key <= position && (!use_window || key > position - int(window));
}

// Two partial results of a row, `total` first: values are relative to their maximum.
METAL_FUNC float merged(float total, float total_factor, float part, float part_factor) {
  return fma(total, total_factor, part * part_factor);
}

// Adds a head's sink to the sum, and updates the maximum.
METAL_FUNC float scale_to_end(float largest, float sum, float sink) {
  if (!use_sinks) {
    return 1.0f / sum;
  }
  const float end = max(sink, largest);
  const float factor = precise::exp(largest - end);
  return factor / fma(sum, factor, precise::exp(sink - end));
}

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
)msl"
R"msl(METAL_FUNC void add_values(thread simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS],
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
  constexpr uint LDP = kPartition * 4 / sizeof(T);  // weights take the place of their row's scores
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;  // column tiles of the output a simdgroup makes
  constexpr uint EACH = ROWS * kMaxDim / 128;       // output elements a thread keeps

  threadgroup T q_tile[ROWS * LDQ];
  threadgroup float s_tile[ROWS * kPartition];  // scores, weights, then the partition's output
  threadgroup T v_tail[8 * kMaxDim];            // the values of the last 8 keys, zero beyond the end
  threadgroup float part_max[ROWS];
  threadgroup float part_sum[ROWS];
  threadgroup float row_max[ROWS];
  threadgroup float row_sum[ROWS];

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

  for (uint i = tid; i < row_tiles * 8 * args.dim; i += 128) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    const int flat = row0 + min(int(r), num_rows - 1);
    const long head = long(tg.y) * args.group + flat % int(args.group);
    q_tile[r * LDQ + d] = T(q[long(begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d]);
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
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (; part <= last; ++part) {
    const int p0 = int(part * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;
    const int tail_tile = context / 8 * 8;  // the first key of the tile that the context ends in

    // Scores, 8 keys at a time.
    for (uint kt = sg; kt < key_tiles; kt += kSimdgroups) {
      const uint key = uint(p0) + kt * 8;
      score_keys<T, RT>(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride, args.k_place_stride,
                                   long(tg.y) * args.k_head_stride),
                        (threadgroup const T*)(q_tile), s_tile, kt, row_tiles, args);
    }
    if (p0 + int(key_tiles) * 8 > context) {
      load_tail(cache_rows(v_cache, blocks, uint(tail_tile), args.block_size, args.v_block_stride, args.v_place_stride,
                           long(tg.y) * args.v_head_stride),
                v_tail, context - tail_tile, tid, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // Softmax of each row, within the partition.
    for (uint r = sg; r < row_tiles * 8; r += kSimdgroups) {
      const int position = context - tokens + (row0 + int(r)) / int(args.group);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_scores((threadgroup const float*)(s_tile + r * kPartition), (threadgroup T*)(s_tile) + r * LDP, p0,
                   key_tiles * 8, position, lane, args, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

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
    #pragma unroll 4
    for (uint kt = 0; kt < key_tiles; ++kt) {
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
    store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    #pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint r = (tid + 128 * i) / kMaxDim;
      const uint d = (tid + 128 * i) % kMaxDim;
      if (int(r) < num_rows && d < args.dim) {
        const float largest = max(row_max[r], part_max[r]);
        total[i] = merged(total[i], precise::exp(row_max[r] - largest), s_tile[r * kPartition + d],
                          precise::exp(part_max[r] - largest));
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < row_tiles * 8) {
      const float largest = max(row_max[tid], part_max[tid]);
      row_sum[tid] = merged(row_sum[tid], precise::exp(row_max[tid] - largest), part_sum[tid],
                            precise::exp(part_max[tid] - largest));
      row_max[tid] = largest;
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
    for (uint part = first_part(position, args.window); part <= uint(position) / kPartition; ++part) {
      device const float* from = parts + long(part) * (args.dim + 2);
      const float next = max(largest, from[args.dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.dim + 1], part_factor);
      largest = next;
    }
)msl"
R"msl(    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] =
        total * scale_to_end(largest, sum, sink);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/paged_attention.metal"
# 1 "Shaders/paged_attention.metal"

# 1 "Shaders/attention_partition.h"



# 1 "Shaders/paged_attention.h"
# 12 "Shaders/paged_attention.h"
# 1 "Shaders/args/paged_attention.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/paged_attention.h"

namespace pagoda_args {

struct PagedAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long k_block_stride, k_place_stride, k_head_stride;
  long v_block_stride, v_place_stride, v_head_stride;
  long table_stride;
  uint num_sequences;
  uint heads, group;
  uint dim;
  uint block_size;
  uint max_parts;
  uint window;
  float scale;
  float softcap;
  uint is_split;
};
static_assert(sizeof(PagedAttention) == 128, "host and kernel agree");

}
# 13 "Shaders/paged_attention.h"
# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {


#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }






  }
}
# 14 "Shaders/paged_attention.h"

MSL_FUNCTION_CONSTANT(bool, use_window, 0)
MSL_FUNCTION_CONSTANT(bool, use_softcap, 1)
MSL_FUNCTION_CONSTANT(bool, use_sinks, 2)

MSL_CONSTANT constexpr uint kPartition = 256;
MSL_CONSTANT constexpr uint kMaxDim = 256;
MSL_CONSTANT constexpr uint kSimdgroups = 4;


METAL_FUNC uint first_tile(MSL_DEVICE const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}


METAL_FUNC uint first_part(int position, uint window) {
  const int begin = use_window ? max(0, position - int(window) + 1) : 0;
  return uint(begin) / kPartition;
}

METAL_FUNC bool is_visible(int key, int position, uint window) {
  return key <= position && (!use_window || key > position - int(window));
}


METAL_FUNC float merged(float total, float total_factor, float part, float part_factor) {
  return fma(total, total_factor, part * part_factor);
}


METAL_FUNC float scale_to_end(float largest, float sum, float sink) {
  if (!use_sinks) {
    return 1.0f / sum;
  }
  const float end = max(sink, largest);
  const float factor = precise::exp(largest - end);
  return factor / fma(sum, factor, precise::exp(sink - end));
}
# 5 "Shaders/attention_partition.h"


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
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
#pragma unroll 8
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

    if (r < row_tiles) {
      simdgroup_store(acc[r], s_tile + r * 8 * kPartition + kt * 8, kPartition);
    }
  }
}



template <typename T>
METAL_FUNC void weigh_scores(MSL_THREADGROUP const float* row, MSL_THREADGROUP T* weights, int p0, uint num_keys, int position,
                             uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args, MSL_THREAD float& largest,
                             MSL_THREAD float& sum) {
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
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;
#pragma unroll
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



template <typename T, uint RT, uint COLS>
METAL_FUNC void add_values(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS],
                           MSL_THREAD simdgroup_matrix<T, 8, 8> (&w_mat)[RT], MSL_DEVICE const T* rows,
                           MSL_THREADGROUP const T* v_tail, bool is_tail, uint first_column, uint columns, uint row_tiles,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
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
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
#pragma unroll
      for (uint r = 0; r < RT; ++r) {

        if (r < row_tiles) {
          simdgroup_store(acc[r][c], s_tile + r * 8 * kPartition + (first_column + c) * 8, kPartition);
        }
      }
    }
  }
}
# 3 "Shaders/paged_attention.metal"


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
  constexpr uint LDP = kPartition * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  constexpr uint EACH = ROWS * kMaxDim / 128;

  MSL_TG_VAR(1, q_tile, [ROWS*LDQ], T)
  MSL_TG_VAR(2, s_tile, [ROWS*kPartition], float)
  MSL_TG_VAR(3, v_tail, [8*kMaxDim], T)
  MSL_TG_VAR(4, part_max, [ROWS], float)
  MSL_TG_VAR(5, part_sum, [ROWS], float)
  MSL_TG_VAR(6, row_max, [ROWS], float)
  MSL_TG_VAR(7, row_sum, [ROWS], float)

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
)msl"
R"msl(      return;
    }
    part = tg.z;
    last = tg.z;
  }
  const uint row_tiles = (uint(num_rows) + 7) / 8;
  MSL_DEVICE const int* blocks = block_tables + long(seq) * args.table_stride;

  for (uint i = tid; i < row_tiles * 8 * args.dim; i += 128) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    const int flat = row0 + min(int(r), num_rows - 1);
    const long head = long(tg.y) * args.group + flat % int(args.group);
    q_tile[r * LDQ + d] = T(q[long(begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d]);
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
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (; part <= last; ++part) {
    const int p0 = int(part * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;
    const int tail_tile = context / 8 * 8;


    for (uint kt = sg; kt < key_tiles; kt += kSimdgroups) {
      const uint key = uint(p0) + kt * 8;
      score_keys<T, RT>(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride, args.k_place_stride,
                                   long(tg.y) * args.k_head_stride),
                        (MSL_THREADGROUP const T*)(q_tile), s_tile, kt, row_tiles, args);
    }
    if (p0 + int(key_tiles) * 8 > context) {
      load_tail(cache_rows(v_cache, blocks, uint(tail_tile), args.block_size, args.v_block_stride, args.v_place_stride,
                           long(tg.y) * args.v_head_stride),
                v_tail, context - tail_tile, tid, args);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    for (uint r = sg; r < row_tiles * 8; r += kSimdgroups) {
      const int position = context - tokens + (row0 + int(r)) / int(args.group);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_scores((MSL_THREADGROUP const float*)(s_tile + r * kPartition), (MSL_THREADGROUP T*)(s_tile) + r * LDP, p0,
                   key_tiles * 8, position, lane, args, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


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
#pragma unroll 4
    for (uint kt = 0; kt < key_tiles; ++kt) {
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
    store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);

#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint r = (tid + 128 * i) / kMaxDim;
      const uint d = (tid + 128 * i) % kMaxDim;
      if (int(r) < num_rows && d < args.dim) {
        const float largest = max(row_max[r], part_max[r]);
        total[i] = merged(total[i], precise::exp(row_max[r] - largest), s_tile[r * kPartition + d],
                          precise::exp(part_max[r] - largest));
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < row_tiles * 8) {
      const float largest = max(row_max[tid], part_max[tid]);
      row_sum[tid] = merged(row_sum[tid], precise::exp(row_max[tid] - largest), part_sum[tid],
                            precise::exp(part_max[tid] - largest));
      row_max[tid] = largest;
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
  paged_attention_reduce(partials, cu_seqlens, context_lens, sinks, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_f32_1)
extern "C" __global__ void __launch_bounds__(128) paged_attention_f32_1(const float* q, const float* k_cache, const float* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  paged_attention<float, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_f16_1)
extern "C" __global__ void __launch_bounds__(128) paged_attention_f16_1(const float* q, const half* k_cache, const half* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  paged_attention<half, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_f16_2)
extern "C" __global__ void __launch_bounds__(128) paged_attention_f16_2(const float* q, const half* k_cache, const half* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  paged_attention<half, 2>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_bf16_1)
extern "C" __global__ void __launch_bounds__(128) paged_attention_bf16_1(const float* q, const bfloat* k_cache, const bfloat* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  paged_attention<bfloat, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_paged_attention_bf16_2)
extern "C" __global__ void __launch_bounds__(128) paged_attention_bf16_2(const float* q, const bfloat* k_cache, const bfloat* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) {
  paged_attention<bfloat, 2>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
