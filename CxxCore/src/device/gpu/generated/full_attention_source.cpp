// The text of full_attention.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource full_attention_source() noexcept {
  return {"full_attention",
R"msl(#include "args/paged_attention.h"
#include "common.h"
constant constexpr uint kSimdgroups = 4;
constant constexpr uint kThreads = 32 * kSimdgroups;
constant constexpr uint kOwnRows = 16;
constant constexpr uint kTileRows = kOwnRows * kSimdgroups;
constant constexpr uint kStageKeys = 32;
constant constexpr uint kScoreStride = kStageKeys + 4;
typedef simdgroup_matrix<float, 8, 8> SumTile;
template <uint TILES>
METAL_FUNC constexpr uint stage_stride() {
  return TILES | 1;
}
struct ImageTile {
  uint seq;
  int begin;
  int row0;
  int rows;
  int context;
};
METAL_FUNC ImageTile image_tile(device const int* cu_seqlens, device const int* context_lens, uint tile,
                                uint num_sequences) {
  ImageTile found;
  found.seq = sequence_of_tile(cu_seqlens, num_sequences, tile, 1, kTileRows);
  found.begin = cu_seqlens[found.seq];
  found.row0 = int((tile - first_tile(cu_seqlens, found.seq, 1, kTileRows)) * kTileRows);
  found.rows = min(int(kTileRows), cu_seqlens[found.seq + 1] - found.begin - found.row0);
  found.context = context_lens[found.seq];
  return found;
}
template <typename T, uint TILES>
METAL_FUNC void stage_rows(device const T* cache, device const int* blocks, int key, int context, long block_stride,
                           long slot_stride, threadgroup uint4* stage, uint tid,
                           constant pagoda_args::PagedAttention& args) {
  for (uint i = tid; i < kStageKeys * TILES; i += kThreads) {
    const uint r = i / TILES;
    const uint c = i % TILES;
    const uint position = uint(key) + r;
    uint4 words = uint4(0, 0, 0, 0);
    if (int(position) < context && 8 * c < args.dim) {
      words = *(device const uint4*)(cache + long(blocks[position / args.block_size]) * block_stride +
                                     long(position % args.block_size) * slot_stride + 8 * c);
    }
    stage[r * stage_stride<TILES>() + c] = words;
  }
}
template <typename T, uint TILES>
METAL_FUNC void load_own_queries(device const float* q, thread simdgroup_matrix<T, 8, 8> (&tiles)[TILES][2],
                                 threadgroup T* scratch, int first, int rows, uint lane,
                                 constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < TILES; ++c) {
    for (uint i = lane; i < kOwnRows * 8; i += 32) {
      const uint d = c * 8 + i % 8;
      float value = 0.0f;
      if (d < args.dim) {
        value = q[long(min(first + int(i / 8), rows - 1)) * args.q_stride + d];
      }
      scratch[i] = T(value);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint r = 0; r < 2; ++r) {
      simdgroup_load(tiles[c][r], (threadgroup const T*)(scratch + r * 64), 8);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}
template <typename T, uint TILES>
METAL_FUNC void score_stage(thread simdgroup_matrix<T, 8, 8> (&queries)[TILES][2], threadgroup const T* keys,
                            threadgroup float* scores) {
  constexpr uint LD = 8 * stage_stride<TILES>();
  SumTile sums[2][kStageKeys / 8];
#pragma unroll
  for (uint t = 0; t < kStageKeys / 8; ++t) {
    sums[0][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    sums[1][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
#pragma unroll
  for (uint c = 0; c < TILES; ++c) {
#pragma unroll
    for (uint t = 0; t < kStageKeys / 8; ++t) {
      simdgroup_matrix<T, 8, 8> columns;
      simdgroup_load(columns, keys + t * 8 * LD + c * 8, LD, ulong2(0, 0), true);
      pair_multiply_accumulate(sums[0][t], sums[1][t], queries[c][0], queries[c][1], columns);
    }
  }
#pragma unroll
  for (uint t = 0; t < kStageKeys / 8; ++t) {
    simdgroup_store(sums[0][t], scores + t * 8, kScoreStride);
    simdgroup_store(sums[1][t], scores + 8 * kScoreStride + t * 8, kScoreStride);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
METAL_FUNC float largest_score(threadgroup const float* own, int left, float largest) {
#pragma unroll
  for (uint i = 0; i < kStageKeys / 2; ++i) {
    largest = int(i) < left ? max(largest, own[i]) : largest;
  }
  return largest;
}
template <typename T>
METAL_FUNC float weigh_stage(threadgroup float* scores, int left, float largest, float scale, uint lane) {
  constexpr uint LDW = kScoreStride * 4 / sizeof(T);
  float own[kStageKeys / 2];
#pragma unroll
  for (uint i = 0; i < kStageKeys / 2; ++i) {
    own[i] = scores[lane / 2 * kScoreStride + lane % 2 * (kStageKeys / 2) + i];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup T* weights = (threadgroup T*)(scores) + lane / 2 * LDW + lane % 2 * (kStageKeys / 2);
  float sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kStageKeys / 2; ++i) {
    const T weight = T(int(i) < left ? precise::exp((own[i] - largest) * scale) : 0.0f);
    weights[i] = weight;
    sum += float(weight);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  return sum;
}
template <typename T, uint TILES>
METAL_FUNC void add_stage(thread SumTile (&total)[2][TILES], threadgroup const T* weights, threadgroup const T* values) {
  constexpr uint LD = 8 * stage_stride<TILES>();
  constexpr uint LDW = kScoreStride * 4 / sizeof(T);
#pragma unroll
  for (uint t = 0; t < kStageKeys / 8; ++t) {
    simdgroup_matrix<T, 8, 8> rows[2];
    simdgroup_load(rows[0], weights + t * 8, LDW);
    simdgroup_load(rows[1], weights + 8 * LDW + t * 8, LDW);
#pragma unroll
    for (uint c = 0; c < TILES; ++c) {
      simdgroup_matrix<T, 8, 8> columns;
      simdgroup_load(columns, values + t * 8 * LD + c * 8, LD);
      pair_multiply_accumulate(total[0][c], total[1][c], rows[0], rows[1], columns);
    }
  }
}
template <uint TILES>
METAL_FUNC void store_own_rows(thread SumTile (&total)[2][TILES], float scale, bool is_row, threadgroup float* scratch,
                               device float* to, uint lane, constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint first = 0; first < TILES; first += 4) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint c = 0; c < 4; ++c) {
      if (first + c < TILES) {
        simdgroup_store(total[0][first + c], scratch + c * 8, kScoreStride);
        simdgroup_store(total[1][first + c], scratch + 8 * kScoreStride + c * 8, kScoreStride);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 16; ++i) {
      const uint d = lane % 2 * 16 + i;
      if (is_row && first * 8 + d < args.dim) {
        to[first * 8 + d] = scratch[lane / 2 * kScoreStride + d] * scale;
      }
    }
  }
}
template <typename T, uint TILES>
[[max_total_threads_per_threadgroup(128)]]
kernel void full_attention(device const float* q [[buffer(0)]],
                           device const T* k_cache [[buffer(1)]],
                           device const T* v_cache [[buffer(2)]],
                           device const int* cu_seqlens [[buffer(3)]],
                           device const int* context_lens [[buffer(4)]],
                           device const int* block_tables [[buffer(5)]],
                           device float* out [[buffer(6)]],
                           constant pagoda_args::PagedAttention& args [[buffer(7)]],
                           uint2 tg [[threadgroup_position_in_grid]],
                           uint tid [[thread_index_in_threadgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint4 k_stage[kStageKeys * stage_stride<TILES>()];
  MSL_SHARED uint4 v_stage[kStageKeys * stage_stride<TILES>()];
  MSL_SHARED float s_tile[kSimdgroups * kOwnRows * kScoreStride];
  const ImageTile tile = image_tile(cu_seqlens, context_lens, tg.x, args.num_sequences);
  if (tile.rows <= 0) {
    return;
  }
  device const int* blocks = block_tables + long(tile.seq) * args.table_stride;
  device const T* k_head = k_cache + long(tg.y / args.group) * args.k_head_stride;
  device const T* v_head = v_cache + long(tg.y / args.group) * args.v_head_stride;
  threadgroup float* scores = s_tile + sg * kOwnRows * kScoreStride;
  threadgroup float* own = scores + lane / 2 * kScoreStride + lane % 2 * (kStageKeys / 2);
  const int own_key = int(lane % 2 * (kStageKeys / 2));
  simdgroup_matrix<T, 8, 8> queries[TILES][2];
  load_own_queries<T, TILES>(q + long(tile.begin + tile.row0) * args.q_stride + long(tg.y) * args.q_head_stride, queries,
                             (threadgroup T*)(scores), int(sg * kOwnRows), tile.rows, lane, args);
  float largest = kNegBig;
  for (int key = 0; key < tile.context; key += int(kStageKeys)) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage_rows<T, TILES>(k_head, blocks, key, tile.context, args.k_block_stride, args.k_slot_stride, k_stage, tid, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    score_stage<T, TILES>(queries, (threadgroup const T*)(k_stage), scores);
    largest = largest_score((threadgroup const float*)(own), tile.context - key - own_key, largest);
  }
  largest = max(largest, simd_shuffle_xor(largest, ushort(1)));
  SumTile total[2][TILES];
#pragma unroll
  for (uint c = 0; c < TILES; ++c) {
    total[0][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    total[1][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  float sum = 0.0f;
  for (int key = 0; key < tile.context; key += int(kStageKeys)) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage_rows<T, TILES>(k_head, blocks, key, tile.context, args.k_block_stride, args.k_slot_stride, k_stage, tid, args);
    stage_rows<T, TILES>(v_head, blocks, key, tile.context, args.v_block_stride, args.v_slot_stride, v_stage, tid, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    score_stage<T, TILES>(queries, (threadgroup const T*)(k_stage), scores);
    sum += weigh_stage<T>(scores, tile.context - key - own_key, largest, args.scale, lane);
    add_stage<T, TILES>(total, (threadgroup const T*)(scores), (threadgroup const T*)(v_stage));
  }
  sum += simd_shuffle_xor(sum, ushort(1));
  const int row = int(sg * kOwnRows + lane / 2);
  store_own_rows<TILES>(total, 1.0f / sum, row < tile.rows, scores,
                        out + long(tile.begin + tile.row0 + row) * args.out_stride +
                            long(tg.y) * args.out_head_stride,
                        lane, args);
}
MSL_INSTANCE(full_attention_bf16_8, full_attention, bfloat, 8)
MSL_INSTANCE(full_attention_bf16_9, full_attention, bfloat, 9)
MSL_INSTANCE(full_attention_bf16_16, full_attention, bfloat, 16)
)msl",
R"msl(#define MSL_KERNEL_full_attention(BOUNDS, T, TILES) MSL_GLOBAL(BOUNDS)(const float* q, const T* k_cache, const T* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, float* out, const pagoda_args::PagedAttention args) { msl_let_dependents_begin(); msl_wait_for_inputs(); full_attention<T, TILES>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_full_attention_bf16_8 MSL_KERNEL_full_attention((128), bfloat, 8)
#define MSL_ENTRY_full_attention_bf16_9 MSL_KERNEL_full_attention((128), bfloat, 9)
#define MSL_ENTRY_full_attention_bf16_16 MSL_KERNEL_full_attention((128), bfloat, 16)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
