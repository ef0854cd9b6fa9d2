// latent_attention: 8 (token, head) rows of a sequence against its partitions, and the merge of partitions. Partitions,
// softmax and merge are as in paged_attention.h, so that a row's bits depend only on its own prefix. All heads read the
// same cached rows.
#include "args/latent_attention.h"
#include "paged_attention.h"

constant constexpr uint kLatentRows = 8;
constant constexpr uint kMaxLatentDim = 576;
constant constexpr uint kMaxValueTiles = 16;  // of 8 columns, per simdgroup: 512 values over four simdgroups
constant constexpr uint kLatentStride = kMaxLatentDim + 8;

// Start of a key's cached row; the rows of the following positions in its block come after it.
template <typename T>
METAL_FUNC device const T* latent_rows(device const T* cache, device const int* blocks, uint key,
                                       constant pagoda_args::LatentAttention& args) {
  return cache + long(blocks[key / args.block_size]) * args.block_stride + long(key % args.block_size) * args.slot_stride;
}

// Softmax of one row within the partition, by one simdgroup: the weights (in T) overwrite the row's scores. largest,
// sum: the same in all lanes
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
  simdgroup_barrier(mem_flags::mem_threadgroup);  // all scores have been read
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

// Grid: [tiles of 8 rows, partitions]; tiles of several tokens run at partition 0 only and loop over the partitions,
// with their running sums in `out`.
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
                             uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint LDP = kPartition * 4 / sizeof(T);  // the weights overwrite the row's scores

  threadgroup T q_tile[kLatentRows * kLatentStride];
  threadgroup float s_tile[kLatentRows * kPartition];
  threadgroup float tile[kSimdgroups * 64];   // a simdgroup's 8 x 8 sums before they go to `out`
  threadgroup T tail_tile[kSimdgroups * 64];  // values of the last 8 keys, zero past the end
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
        simdgroup_load(k_mat, rows + d, ulong(args.slot_stride), ulong2(0, 0), true);
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

    // The weighted sum of the values: keys in order, one simdgroup per quarter of the columns.
    simdgroup_matrix<float, 8, 8> acc[kMaxValueTiles];
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      acc[c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (uint kt = 0; kt < key_tiles; ++kt) {
      const uint key = uint(p0) + kt * 8;
      device const T* rows = latent_rows(cache, blocks, key, args);
      const int num_left = context - int(key);  // the cache past the context may hold anything, including NaN
      simdgroup_matrix<T, 8, 8> weights;
      simdgroup_load(weights, (threadgroup T*)(s_tile) + kt * 8, LDP);
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
              tail_tile[sg * 64 + i] = value;
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            simdgroup_load(v_mat, (threadgroup const T*)(tail_tile + sg * 64), 8);
          } else {
            simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.slot_stride));
          }
          simdgroup_multiply_accumulate(acc[c], weights, v_mat, acc[c]);
        }
      }
    }

    // Each element of the result belongs to the same thread in every partition.
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      if (c < columns && first_column + c < args.value_dim / 8) {
        simdgroup_barrier(mem_flags::mem_threadgroup);  // the previous sums have been read
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

template [[host_name("latent_attention_f32")]] kernel decltype(latent_attention<float>) latent_attention<float>;
template [[host_name("latent_attention_f16")]] kernel decltype(latent_attention<half>) latent_attention<half>;
template [[host_name("latent_attention_bf16")]] kernel decltype(latent_attention<bfloat>) latent_attention<bfloat>;

// Merges the partitions of single tokens, in order. Grid: [heads, sequences]
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
