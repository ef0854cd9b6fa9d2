// The text of latent_attention.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource latent_attention_source() noexcept {
  return {"latent_attention",
R"msl(#pragma METAL fp contract(off)
// latent_attention: 8 (token, head) rows of a sequence against its partitions, and their merge. Partitions, softmax and
// merge as in paged_attention.h, so that a row's bits depend on its own prefix only. All heads read the same cached rows.
// Arguments of latent_attention.metal and cache_latents.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;  // elements
  long block_stride, place_stride;                            // of the cache
  long table_stride;                                          // block ids from one sequence to the next
  uint num_sequences;
  uint heads;
  uint dim;         // of a cached row: a multiple of 8, at most 576
  uint value_dim;   // of its first part, the value: a multiple of 8, at most 512
  uint block_size;  // a multiple of 8
  uint max_parts;   // partitions of 256 positions that the partial results have room for
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");

struct CacheLatents {
  long x_stride;                    // elements from one token to the next
  long block_stride, place_stride;  // of the cache
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");

}  // namespace pagoda_args
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

constant constexpr uint kLatentRows = 8;
constant constexpr uint kMaxLatentDim = 576;
constant constexpr uint kMaxValueTiles = 16;  // of 8 columns that a simdgroup sums: 512 values for four of them
constant constexpr uint kLatentStride = kMaxLatentDim + 8;

// Where the cached rows of a key and of those after it in its block begin.
template <typename T>
METAL_FUNC device const T* latent_rows(device const T* cache, device const int* blocks, uint key,
                                       constant pagoda_args::LatentAttention& args) {
  return cache + long(blocks[key / args.block_size]) * args.block_stride + long(key % args.block_size) * args.place_stride;
}

// The softmax of one row within the partition, by a simdgroup: weights (in T) take the place of their row's scores.
// largest, sum: the same in all lanes
template <typename T>
METAL_FUNC void weigh_latents(threadgroup const float* row, threadgroup T* weights, uint num_keys, int num_seen,
                              float scale, uint lane, thread float& largest, thread float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (int(at) < num_seen) {
      score[i] = row[at] * scale;
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);  // all scores are read
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const T weight = T(int(at) < num_seen ? precise::exp(score[i] - largest) : 0.0f);
    // Only saves work: weights beyond the last tile are not read.
    if (at < num_keys) {
      weights[at] = weight;
    }
    sum += float(weight);
  }
  sum = simd_sum(sum);
}

// Grid: [tiles of 8 rows, partitions]; tiles of several tokens run at partition 0 only, and walk, with their sums so far
// in `out`.
template <typename T>
[[max_total_threads_per_threadgroup(128)]]
kernel void latent_attention(device const float* q [[buffer(0)]],
                             device const T* cache [[buffer(1)]],
                             device const int* cu_seqlens [[buffer(2)]],
                             device const int* context_lens [[buffer(3)]],
                             device const int* block_tables [[buffer(4)]],
                             device float* partials [[buffer(5)]],
                             device float* out [[buffer(6)]],
                             constant pagoda_args::LatentAttention& args [[buffer(7)]],
                             uint2 tg [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]],
)msl"
R"msl(                             uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint LDP = kPartition * 4 / sizeof(T);  // weights take the place of their row's scores

  threadgroup T q_tile[kLatentRows * kLatentStride];
  threadgroup float s_tile[kLatentRows * kPartition];
  threadgroup float tile[kSimdgroups * 64];   // a simdgroup's 8 x 8 sums on their way to `out`
  threadgroup T tail_tile[kSimdgroups * 64];  // values of the last 8 keys, zero beyond the end
  threadgroup float part_max[kLatentRows];
  threadgroup float part_sum[kLatentRows];
  threadgroup float row_max[kLatentRows];
  threadgroup float row_sum[kLatentRows];

  const uint seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.heads, kLatentRows);
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int context = context_lens[seq];
  const int row0 = int((tg.x - first_tile(cu_seqlens, seq, args.heads, kLatentRows)) * kLatentRows);
  const int num_rows = min(int(kLatentRows), tokens * int(args.heads) - row0);
  const bool is_split = tokens == 1;
  if (num_rows <= 0 || (!is_split && tg.y > 0)) {
    return;
  }
  const int first_position = context - tokens;
  const int last_position = first_position + (row0 + num_rows - 1) / int(args.heads);
  uint part = 0;
  uint last = uint(last_position) / kPartition;
  if (is_split) {
    if (tg.y > last) {
      return;
    }
    part = tg.y;
    last = tg.y;
  }
  device const int* blocks = block_tables + long(seq) * args.table_stride;

  for (uint i = tid; i < kLatentRows * args.dim; i += 128) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    const int flat = int(r) < num_rows ? row0 + int(r) : row0;
    q_tile[r * kLatentStride + d] = T(q[long(begin + flat / int(args.heads)) * args.q_stride +
                                        long(flat % int(args.heads)) * args.q_head_stride + d]);
  }
  if (tid < kLatentRows) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint columns = (args.value_dim / 8 + kSimdgroups - 1) / kSimdgroups;
  const uint first_column = sg * columns;
  for (uint p = part; p <= last; ++p) {
    const int p0 = int(p * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;

    // Scores, 8 keys at a time.
    for (uint kt = sg; kt < key_tiles; kt += kSimdgroups) {
      device const T* rows = latent_rows(cache, blocks, uint(p0) + kt * 8, args);
      simdgroup_matrix<float, 8, 8> acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll 8  // loads in flight
      for (uint d = 0; d < args.dim; d += 8) {
        simdgroup_matrix<T, 8, 8> k_mat;
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(k_mat, rows + d, ulong(args.place_stride), ulong2(0, 0), true);
        simdgroup_load(q_mat, (threadgroup const T*)(q_tile + d), kLatentStride);
        simdgroup_multiply_accumulate(acc, q_mat, k_mat, acc);
      }
      simdgroup_store(acc, s_tile + kt * 8, kPartition);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // Softmax of each row, within the partition.
    for (uint r = sg; r < kLatentRows; r += kSimdgroups) {
      const int position = first_position + (int(r) < num_rows ? row0 + int(r) : row0) / int(args.heads);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_latents((threadgroup const float*)(s_tile + r * kPartition), (threadgroup T*)(s_tile) + r * LDP,
                    key_tiles * 8, position + 1 - p0, args.scale, lane, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // The weighted sum of the values: keys in order, a simdgroup for each quarter of the columns.
    simdgroup_matrix<float, 8, 8> acc[kMaxValueTiles];
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      acc[c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (uint kt = 0; kt < key_tiles; ++kt) {
      const uint key = uint(p0) + kt * 8;
      device const T* rows = latent_rows(cache, blocks, key, args);
      const int num_left = context - int(key);  // keys beyond the context may be anything, also NaN
      simdgroup_matrix<T, 8, 8> weights;
      simdgroup_load(weights, (threadgroup T*)(s_tile) + kt * 8, LDP);
#pragma unroll
      for (uint c = 0; c < kMaxValueTiles; ++c) {
        // Only saves work: the sums of other columns are not read.
        if (c < columns && first_column + c < args.value_dim / 8) {
          simdgroup_matrix<T, 8, 8> v_mat;
          // Only saves work: the values of 8 keys that are there could take the same way.
          if (num_left < 8) {
            simdgroup_barrier(mem_flags::mem_threadgroup);  // the last tile is read
            for (uint i = lane; i < 64; i += 32) {
              T value = T(0.0f);
              if (int(i / 8) < num_left) {
                value = rows[long(i / 8) * args.place_stride + (first_column + c) * 8 + i % 8];
              }
              tail_tile[sg * 64 + i] = value;
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            simdgroup_load(v_mat, (threadgroup const T*)(tail_tile + sg * 64), 8);
          } else {
            simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.place_stride));
          }
          simdgroup_multiply_accumulate(acc[c], weights, v_mat, acc[c]);
        }
      }
    }

    // Each element of the result is one thread's, in every partition.
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      if (c < columns && first_column + c < args.value_dim / 8) {
        simdgroup_barrier(mem_flags::mem_threadgroup);  // the sums before are read
        simdgroup_store(acc[c], tile + sg * 64, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = lane; i < 64; i += 32) {
          const uint r = i / 8;
          const uint d = (first_column + c) * 8 + i % 8;
          if (int(r) < num_rows) {
            const long token = (row0 + int(r)) / int(args.heads);
            const long head = (row0 + int(r)) % int(args.heads);
            if (is_split) {
              partials[((long(seq) * args.heads + head) * args.max_parts + long(p)) * (args.value_dim + 2) + d] =
                  tile[sg * 64 + i];
            } else {
              device float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride + d;
              const float largest = max(row_max[r], part_max[r]);
              const float before = p == 0 ? 0.0f : *to;
              *to = merged(before, precise::exp(row_max[r] - largest), tile[sg * 64 + i],
                           precise::exp(part_max[r] - largest));
            }
          }
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < kLatentRows) {
      const float largest = max(row_max[tid], part_max[tid]);
      row_sum[tid] = merged(row_sum[tid], precise::exp(row_max[tid] - largest), part_sum[tid],
                            precise::exp(part_max[tid] - largest));
      row_max[tid] = largest;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  if (is_split) {
    if (int(tid) < num_rows) {
      device float* to =
          partials + ((long(seq) * args.heads + row0 + int(tid)) * args.max_parts + long(part)) * (args.value_dim + 2);
      to[args.value_dim] = row_max[tid];
      to[args.value_dim + 1] = row_sum[tid];
    }
    return;
  }
#pragma unroll
  for (uint c = 0; c < kMaxValueTiles; ++c) {
    if (c < columns && first_column + c < args.value_dim / 8) {
      for (uint i = lane; i < 64; i += 32) {
        const uint r = i / 8;
        if (int(r) < num_rows) {
          const long token = (row0 + int(r)) / int(args.heads);
          const long head = (row0 + int(r)) % int(args.heads);
          device float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride +
                             (first_column + c) * 8 + i % 8;
          *to = *to * (1.0f / row_sum[r]);
        }
      }
    }
  }
}

#define INSTANTIATE(NAME, T) \
  template [[host_name("latent_attention_" NAME)]] kernel decltype(latent_attention<T>) latent_attention<T>;

INSTANTIATE("f32", float)
INSTANTIATE("f16", half)
INSTANTIATE("bf16", bfloat)

// Single tokens: their partitions, in order. Grid: [heads, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void latent_attention_reduce(device const float* partials [[buffer(0)]],
                                    device const int* cu_seqlens [[buffer(1)]],
                                    device const int* context_lens [[buffer(2)]],
                                    device float* out [[buffer(3)]],
                                    constant pagoda_args::LatentAttention& args [[buffer(4)]],
                                    uint2 tg [[threadgroup_position_in_grid]],
                                    uint tid [[thread_index_in_threadgroup]]) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const uint num_parts = uint(context_lens[tg.y] - 1) / kPartition + 1;
  const long size = args.value_dim + 2;
  device const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * size;
  for (uint d = tid; d < args.value_dim; d += 128) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = 0; part < num_parts; ++part) {
      device const float* from = parts + long(part) * size;
      const float next = max(largest, from[args.value_dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.value_dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.value_dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] = total * (1.0f / sum);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/latent_attention.metal"
# 1 "Shaders/latent_attention.metal"


# 1 "Shaders/args/latent_attention.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/latent_attention.h"

namespace pagoda_args {

struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long block_stride, place_stride;
  long table_stride;
  uint num_sequences;
  uint heads;
  uint dim;
  uint value_dim;
  uint block_size;
  uint max_parts;
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");

struct CacheLatents {
  long x_stride;
  long block_stride, place_stride;
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");

}
# 4 "Shaders/latent_attention.metal"
# 1 "Shaders/paged_attention.h"
# 12 "Shaders/paged_attention.h"
# 1 "Shaders/args/paged_attention.h"





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
# 5 "Shaders/latent_attention.metal"

MSL_CONSTANT constexpr uint kLatentRows = 8;
MSL_CONSTANT constexpr uint kMaxLatentDim = 576;
MSL_CONSTANT constexpr uint kMaxValueTiles = 16;
MSL_CONSTANT constexpr uint kLatentStride = kMaxLatentDim + 8;


template <typename T>
METAL_FUNC MSL_DEVICE const T* latent_rows(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, uint key,
                                       MSL_CONSTANT pagoda_args::LatentAttention& args) {
  return cache + long(blocks[key / args.block_size]) * args.block_stride + long(key % args.block_size) * args.place_stride;
}



template <typename T>
METAL_FUNC void weigh_latents(MSL_THREADGROUP const float* row, MSL_THREADGROUP T* weights, uint num_keys, int num_seen,
                              float scale, uint lane, MSL_THREAD float& largest, MSL_THREAD float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (int(at) < num_seen) {
      score[i] = row[at] * scale;
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const T weight = T(int(at) < num_seen ? precise::exp(score[i] - largest) : 0.0f);

    if (at < num_keys) {
      weights[at] = weight;
    }
    sum += float(weight);
  }
  sum = simd_sum(sum);
}



template <typename T>

MSL_KERNEL void latent_attention(MSL_DEVICE const float* q ,
                             MSL_DEVICE const T* cache ,
                             MSL_DEVICE const int* cu_seqlens ,
                             MSL_DEVICE const int* context_lens ,
                             MSL_DEVICE const int* block_tables ,
                             MSL_DEVICE float* partials ,
                             MSL_DEVICE float* out ,
                             MSL_CONSTANT pagoda_args::LatentAttention& args ,
                             uint2 tg ,
                             uint tid ,
                             uint sg ,
                             uint lane ) {
  constexpr uint LDP = kPartition * 4 / sizeof(T);

  MSL_TG_VAR(1, q_tile, [kLatentRows*kLatentStride], T)
  MSL_TG_VAR(2, s_tile, [kLatentRows*kPartition], float)
  MSL_TG_VAR(3, tile, [kSimdgroups*64], float)
  MSL_TG_VAR(4, tail_tile, [kSimdgroups*64], T)
  MSL_TG_VAR(5, part_max, [kLatentRows], float)
  MSL_TG_VAR(6, part_sum, [kLatentRows], float)
  MSL_TG_VAR(7, row_max, [kLatentRows], float)
  MSL_TG_VAR(8, row_sum, [kLatentRows], float)

  const uint seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.heads, kLatentRows);
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int context = context_lens[seq];
  const int row0 = int((tg.x - first_tile(cu_seqlens, seq, args.heads, kLatentRows)) * kLatentRows);
  const int num_rows = min(int(kLatentRows), tokens * int(args.heads) - row0);
  const bool is_split = tokens == 1;
  if (num_rows <= 0 || (!is_split && tg.y > 0)) {
    return;
  }
  const int first_position = context - tokens;
  const int last_position = first_position + (row0 + num_rows - 1) / int(args.heads);
  uint part = 0;
  uint last = uint(last_position) / kPartition;
  if (is_split) {
    if (tg.y > last) {
      return;
    }
    part = tg.y;
    last = tg.y;
  }
  MSL_DEVICE const int* blocks = block_tables + long(seq) * args.table_stride;

  for (uint i = tid; i < kLatentRows * args.dim; i += 128) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    const int flat = int(r) < num_rows ? row0 + int(r) : row0;
    q_tile[r * kLatentStride + d] = T(q[long(begin + flat / int(args.heads)) * args.q_stride +
                                        long(flat % int(args.heads)) * args.q_head_stride + d]);
  }
  if (tid < kLatentRows) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint columns = (args.value_dim / 8 + kSimdgroups - 1) / kSimdgroups;
  const uint first_column = sg * columns;
  for (uint p = part; p <= last; ++p) {
    const int p0 = int(p * kPartition);
    const int keys = min(int(kPartition), last_position + 1 - p0);
    const uint key_tiles = (uint(keys) + 7) / 8;


    for (uint kt = sg; kt < key_tiles; kt += kSimdgroups) {
      MSL_DEVICE const T* rows = latent_rows(cache, blocks, uint(p0) + kt * 8, args);
      simdgroup_matrix<float, 8, 8> acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll 8
      for (uint d = 0; d < args.dim; d += 8) {
        simdgroup_matrix<T, 8, 8> k_mat;
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(k_mat, rows + d, ulong(args.place_stride), ulong2(0, 0), true);
        simdgroup_load(q_mat, (MSL_THREADGROUP const T*)(q_tile + d), kLatentStride);
        simdgroup_multiply_accumulate(acc, q_mat, k_mat, acc);
      }
      simdgroup_store(acc, s_tile + kt * 8, kPartition);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    for (uint r = sg; r < kLatentRows; r += kSimdgroups) {
      const int position = first_position + (int(r) < num_rows ? row0 + int(r) : row0) / int(args.heads);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_latents((MSL_THREADGROUP const float*)(s_tile + r * kPartition), (MSL_THREADGROUP T*)(s_tile) + r * LDP,
                    key_tiles * 8, position + 1 - p0, args.scale, lane, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    simdgroup_matrix<float, 8, 8> acc[kMaxValueTiles];
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      acc[c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (uint kt = 0; kt < key_tiles; ++kt) {
      const uint key = uint(p0) + kt * 8;
      MSL_DEVICE const T* rows = latent_rows(cache, blocks, key, args);
      const int num_left = context - int(key);
      simdgroup_matrix<T, 8, 8> weights;
      simdgroup_load(weights, (MSL_THREADGROUP T*)(s_tile) + kt * 8, LDP);
#pragma unroll
      for (uint c = 0; c < kMaxValueTiles; ++c) {

        if (c < columns && first_column + c < args.value_dim / 8) {
)msl"
R"msl(          simdgroup_matrix<T, 8, 8> v_mat;

          if (num_left < 8) {
            simdgroup_barrier(mem_flags::mem_threadgroup);
            for (uint i = lane; i < 64; i += 32) {
              T value = T(0.0f);
              if (int(i / 8) < num_left) {
                value = rows[long(i / 8) * args.place_stride + (first_column + c) * 8 + i % 8];
              }
              tail_tile[sg * 64 + i] = value;
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            simdgroup_load(v_mat, (MSL_THREADGROUP const T*)(tail_tile + sg * 64), 8);
          } else {
            simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.place_stride));
          }
          simdgroup_multiply_accumulate(acc[c], weights, v_mat, acc[c]);
        }
      }
    }


#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      if (c < columns && first_column + c < args.value_dim / 8) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_store(acc[c], tile + sg * 64, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = lane; i < 64; i += 32) {
          const uint r = i / 8;
          const uint d = (first_column + c) * 8 + i % 8;
          if (int(r) < num_rows) {
            const long token = (row0 + int(r)) / int(args.heads);
            const long head = (row0 + int(r)) % int(args.heads);
            if (is_split) {
              partials[((long(seq) * args.heads + head) * args.max_parts + long(p)) * (args.value_dim + 2) + d] =
                  tile[sg * 64 + i];
            } else {
              MSL_DEVICE float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride + d;
              const float largest = max(row_max[r], part_max[r]);
              const float before = p == 0 ? 0.0f : *to;
              *to = merged(before, precise::exp(row_max[r] - largest), tile[sg * 64 + i],
                           precise::exp(part_max[r] - largest));
            }
          }
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < kLatentRows) {
      const float largest = max(row_max[tid], part_max[tid]);
      row_sum[tid] = merged(row_sum[tid], precise::exp(row_max[tid] - largest), part_sum[tid],
                            precise::exp(part_max[tid] - largest));
      row_max[tid] = largest;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  if (is_split) {
    if (int(tid) < num_rows) {
      MSL_DEVICE float* to =
          partials + ((long(seq) * args.heads + row0 + int(tid)) * args.max_parts + long(part)) * (args.value_dim + 2);
      to[args.value_dim] = row_max[tid];
      to[args.value_dim + 1] = row_sum[tid];
    }
    return;
  }
#pragma unroll
  for (uint c = 0; c < kMaxValueTiles; ++c) {
    if (c < columns && first_column + c < args.value_dim / 8) {
      for (uint i = lane; i < 64; i += 32) {
        const uint r = i / 8;
        if (int(r) < num_rows) {
          const long token = (row0 + int(r)) / int(args.heads);
          const long head = (row0 + int(r)) % int(args.heads);
          MSL_DEVICE float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride +
                             (first_column + c) * 8 + i % 8;
          *to = *to * (1.0f / row_sum[r]);
        }
      }
    }
  }
}










MSL_KERNEL void latent_attention_reduce(MSL_DEVICE const float* partials ,
                                    MSL_DEVICE const int* cu_seqlens ,
                                    MSL_DEVICE const int* context_lens ,
                                    MSL_DEVICE float* out ,
                                    MSL_CONSTANT pagoda_args::LatentAttention& args ,
                                    uint2 tg ,
                                    uint tid ) {
  const int begin = cu_seqlens[tg.y];
  if (cu_seqlens[tg.y + 1] - begin != 1) {
    return;
  }
  const uint num_parts = uint(context_lens[tg.y] - 1) / kPartition + 1;
  const long size = args.value_dim + 2;
  MSL_DEVICE const float* parts = partials + (long(tg.y) * args.heads + tg.x) * args.max_parts * size;
  for (uint d = tid; d < args.value_dim; d += 128) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = 0; part < num_parts; ++part) {
      MSL_DEVICE const float* from = parts + long(part) * size;
      const float next = max(largest, from[args.value_dim]);
      const float total_factor = precise::exp(largest - next);
      const float part_factor = precise::exp(from[args.value_dim] - next);
      total = merged(total, total_factor, from[d], part_factor);
      sum = merged(sum, total_factor, from[args.value_dim + 1], part_factor);
      largest = next;
    }
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] = total * (1.0f / sum);
  }
}


# 1 "latent_attention.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_latent_attention_reduce)
extern "C" __global__ void __launch_bounds__(128) latent_attention_reduce(const float* partials, const int* cu_seqlens, const int* context_lens, float* out, const pagoda_args::LatentAttention args) {
  latent_attention_reduce(partials, cu_seqlens, context_lens, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_latent_attention_f32)
extern "C" __global__ void __launch_bounds__(128) latent_attention_f32(const float* q, const float* cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, float* partials, float* out, const pagoda_args::LatentAttention args) {
  latent_attention<float>(q, cache, cu_seqlens, context_lens, block_tables, partials, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_latent_attention_f16)
extern "C" __global__ void __launch_bounds__(128) latent_attention_f16(const float* q, const half* cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, float* partials, float* out, const pagoda_args::LatentAttention args) {
  latent_attention<half>(q, cache, cu_seqlens, context_lens, block_tables, partials, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_latent_attention_bf16)
extern "C" __global__ void __launch_bounds__(128) latent_attention_bf16(const float* q, const bfloat* cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, float* partials, float* out, const pagoda_args::LatentAttention args) {
  latent_attention<bfloat>(q, cache, cu_seqlens, context_lens, block_tables, partials, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
