// The text of latent_attention.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource latent_attention_source() noexcept {
  return {"latent_attention",
R"msl(#include "latent_partition.h"
constant constexpr uint kLatentRows = 8;
template <typename T, typename C>
[[max_total_threads_per_threadgroup(128)]]
kernel void latent_attention(device const float* q [[buffer(0)]],
                             device const C* cache [[buffer(1)]],
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
  constexpr bool IS_INT8 = sizeof(C) == 1;
  constexpr uint LDP = kPartition * 4 / sizeof(T);
  constexpr uint TILES = IS_INT8 ? kScratch * 2 : 64;
  MSL_SHARED T q_tile[kLatentRows * kLatentStride];
  MSL_SHARED float s_tile[kLatentRows * kPartition];
  MSL_SHARED float tile[kSimdgroups * 64];
  MSL_SHARED T tiles[kSimdgroups * TILES + (IS_INT8 ? kPartition * 2 : 0)];
  MSL_SHARED float part_max[kLatentRows];
  MSL_SHARED float part_sum[kLatentRows];
  MSL_SHARED float row_max[kLatentRows];
  MSL_SHARED float row_sum[kLatentRows];
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
  for (uint i = tid; i < kLatentRows * kMaxLatentDim; i += 128) {
    const uint r = i / kMaxLatentDim;
    const uint d = i % kMaxLatentDim;
    const int flat = int(r) < num_rows ? row0 + int(r) : row0;
    float value = 0.0f;
    if (d < args.dim) {
      value = q[long(begin + flat / int(args.heads)) * args.q_stride + long(flat % int(args.heads)) * args.q_head_stride +
                d];
    }
    q_tile[r * kLatentStride + d] = T(value);
  }
  if (tid < kLatentRows) {
    row_max[tid] = kNegBig;
    row_sum[tid] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* scales = (threadgroup float*)(tiles + kSimdgroups * TILES);
  const uint step = IS_INT8 ? kValueColumns : 8;
  const uint columns = (args.value_dim + step * kSimdgroups - 1) / (step * kSimdgroups) * (step / 8);
  const uint first_column = sg * columns;
  for (uint p = part; p <= last; ++p) {
    const int p0 = int(p * kPartition);
    const uint key_tiles = (uint(min(int(kPartition), last_position + 1 - p0)) + 7) / 8;
    const LatentKeys keys = latent_keys(blocks, p0, key_tiles, context, lane, args);
    score_latents<T>(cache, blocks, (threadgroup const T*)(q_tile), s_tile, tiles, keys, sg, lane, args);
    load_latent_scales(cache, blocks, scales, keys, tid, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint r = sg; r < kLatentRows; r += kSimdgroups) {
      const int position = first_position + (int(r) < num_rows ? row0 + int(r) : row0) / int(args.heads);
      float largest = 0.0f;
      float sum = 0.0f;
      weigh_latents<T, IS_INT8>((threadgroup const float*)(s_tile + r * kPartition),
                                (threadgroup T*)(s_tile) + r * LDP, (threadgroup const float*)(scales), key_tiles * 8,
                                position + 1 - p0, args.scale, lane, largest, sum);
      if (lane == 0) {
        part_max[r] = largest;
        part_sum[r] = sum;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    SumTile acc[1][kMaxValueTiles];
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      acc[0][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    sum_latents<T>(acc, cache, blocks, (threadgroup const T*)(s_tile), tiles + sg * TILES, keys, first_column, columns,
                   lane, args);
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      if (c < columns && latent_column<IS_INT8>(first_column + c, 0) < args.value_dim) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_store(acc[0][c], tile + sg * 64, 8);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = lane; i < 64; i += 32) {
          const uint r = i / 8;
          const uint d = latent_column<IS_INT8>(first_column + c, i % 8);
          if (int(r) < num_rows && d < args.value_dim) {
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
    if (c < columns) {
      for (uint i = lane; i < 64; i += 32) {
        const uint r = i / 8;
        const uint d = latent_column<IS_INT8>(first_column + c, i % 8);
        if (int(r) < num_rows && d < args.value_dim) {
          const long token = (row0 + int(r)) / int(args.heads);
          const long head = (row0 + int(r)) % int(args.heads);
          device float* to = out + (begin + token) * args.out_stride + head * args.out_head_stride + d;
          *to = *to * (1.0f / row_sum[r]);
        }
      }
    }
  }
}
MSL_INSTANCE(latent_attention_f32, latent_attention, float, float)
MSL_INSTANCE(latent_attention_f16, latent_attention, half, half)
MSL_INSTANCE(latent_attention_bf16, latent_attention, bfloat, bfloat)
MSL_INSTANCE(latent_attention_i8, latent_attention, bfloat, char)
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
R"msl(#define MSL_KERNEL_latent_attention_reduce(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* partials, const int* cu_seqlens, const int* context_lens, float* out, const pagoda_args::LatentAttention args) { msl_let_dependents_begin(); msl_wait_for_inputs(); latent_attention_reduce(partials, cu_seqlens, context_lens, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_latent_attention(BOUNDS, T, C) MSL_GLOBAL(BOUNDS)(const float* q, const C* cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, float* partials, float* out, const pagoda_args::LatentAttention args) { msl_let_dependents_begin(); msl_wait_for_inputs(); latent_attention<T, C>(q, cache, cu_seqlens, context_lens, block_tables, partials, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_latent_attention_reduce MSL_KERNEL_latent_attention_reduce((128))
#define MSL_ENTRY_latent_attention_f32 MSL_KERNEL_latent_attention((128), float, float)
#define MSL_ENTRY_latent_attention_f16 MSL_KERNEL_latent_attention((128), half, half)
#define MSL_ENTRY_latent_attention_bf16 MSL_KERNEL_latent_attention((128), bfloat, bfloat)
#define MSL_ENTRY_latent_attention_i8 MSL_KERNEL_latent_attention((128), bfloat, char)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
