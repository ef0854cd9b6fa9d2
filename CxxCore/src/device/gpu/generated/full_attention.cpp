// full_attention.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 7 "Shaders/full_attention.metal"
#include "device/gpu/generated/args_paged_attention.h"
#include "device/gpu/generated/common.h"

MSL_CONSTANT constexpr uint kSimdgroups = 4;
MSL_CONSTANT constexpr uint kThreads = 32 * kSimdgroups;
MSL_CONSTANT constexpr uint kOwnRows = 16;
MSL_CONSTANT constexpr uint kTileRows = kOwnRows * kSimdgroups;
MSL_CONSTANT constexpr uint kStageKeys = 32;
MSL_CONSTANT constexpr uint kScoreStride = kStageKeys + 4;

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

METAL_FUNC ImageTile image_tile(MSL_DEVICE const int* cu_seqlens, MSL_DEVICE const int* context_lens, uint tile,
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
METAL_FUNC void stage_rows(MSL_DEVICE const T* cache, MSL_DEVICE const int* blocks, int key, int context, long block_stride,
                           long slot_stride, MSL_THREADGROUP uint4* stage, uint tid,
                           MSL_CONSTANT pagoda_args::PagedAttention& args) {
  for (uint i = tid; MSL_LOOP(i < kStageKeys * TILES); i += kThreads) {
    const uint r = i / TILES;
    const uint c = i % TILES;
    const uint position = uint(key) + r;
    uint4 words = uint4(0, 0, 0, 0);
    if (int(position) < context && 8 * c < args.dim) {
      words = *(MSL_DEVICE const uint4*)(cache + long(blocks[position / args.block_size]) * block_stride +
                                     long(position % args.block_size) * slot_stride + 8 * c);
    }
    stage[r * stage_stride<TILES>() + c] = words;
  }
}


template <typename T, uint TILES>
METAL_FUNC void load_own_queries(MSL_DEVICE const float* q, MSL_THREAD simdgroup_matrix<T, 8, 8> (&tiles)[TILES][2],
                                 MSL_THREADGROUP T* scratch, int first, int rows, uint lane,
                                 MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint c = 0; c < TILES; ++c) {
    for (uint i = lane; MSL_LOOP(i < kOwnRows * 8); i += 32) {
      const uint d = c * 8 + i % 8;
      float value = 0.0f;
      if (d < args.dim) {
        value = q[long(min(first + int(i / 8), rows - 1)) * args.q_stride + d];
      }
      scratch[i] = T(value);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);

    for (uint r = 0; r < 2; ++r) {
      simdgroup_load(tiles[c][r], (MSL_THREADGROUP const T*)(scratch + r * 64), 8);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}


template <typename T, uint TILES>
METAL_FUNC void score_stage(MSL_THREAD simdgroup_matrix<T, 8, 8> (&queries)[TILES][2], MSL_THREADGROUP const T* keys,
                            MSL_THREADGROUP float* scores) {
  constexpr uint LD = 8 * stage_stride<TILES>();
  SumTile sums[2][kStageKeys / 8];

  for (uint t = 0; t < kStageKeys / 8; ++t) {
    sums[0][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    sums[1][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }

  for (uint c = 0; c < TILES; ++c) {

    for (uint t = 0; t < kStageKeys / 8; ++t) {
      simdgroup_matrix<T, 8, 8> columns;
      simdgroup_load(columns, keys + t * 8 * LD + c * 8, LD, ulong2(0, 0), true);
      pair_multiply_accumulate(sums[0][t], sums[1][t], queries[c][0], queries[c][1], columns);
    }
  }

  for (uint t = 0; t < kStageKeys / 8; ++t) {
    simdgroup_store(sums[0][t], scores + t * 8, kScoreStride);
    simdgroup_store(sums[1][t], scores + 8 * kScoreStride + t * 8, kScoreStride);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}


METAL_FUNC float largest_score(MSL_THREADGROUP const float* own, int left, float largest) {

  for (uint i = 0; i < kStageKeys / 2; ++i) {
    largest = int(i) < left ? max(largest, own[i]) : largest;
  }
  return largest;
}


template <typename T>
METAL_FUNC float weigh_stage(MSL_THREADGROUP float* scores, int left, float largest, float scale, uint lane) {
  constexpr uint LDW = kScoreStride * 4 / sizeof(T);
  float own[kStageKeys / 2];

  for (uint i = 0; i < kStageKeys / 2; ++i) {
    own[i] = scores[lane / 2 * kScoreStride + lane % 2 * (kStageKeys / 2) + i];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  MSL_THREADGROUP T* weights = (MSL_THREADGROUP T*)(scores) + lane / 2 * LDW + lane % 2 * (kStageKeys / 2);
  float sum = 0.0f;

  for (uint i = 0; i < kStageKeys / 2; ++i) {
    const T weight = T(int(i) < left ? precise::exp((own[i] - largest) * scale) : 0.0f);
    weights[i] = weight;
    sum += float(weight);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  return sum;
}


template <typename T, uint TILES>
METAL_FUNC void add_stage(MSL_THREAD SumTile (&total)[2][TILES], MSL_THREADGROUP const T* weights, MSL_THREADGROUP const T* values) {
  constexpr uint LD = 8 * stage_stride<TILES>();
  constexpr uint LDW = kScoreStride * 4 / sizeof(T);

  for (uint t = 0; t < kStageKeys / 8; ++t) {
    simdgroup_matrix<T, 8, 8> rows[2];
    simdgroup_load(rows[0], weights + t * 8, LDW);
    simdgroup_load(rows[1], weights + 8 * LDW + t * 8, LDW);

    for (uint c = 0; c < TILES; ++c) {
      simdgroup_matrix<T, 8, 8> columns;
      simdgroup_load(columns, values + t * 8 * LD + c * 8, LD);
      pair_multiply_accumulate(total[0][c], total[1][c], rows[0], rows[1], columns);
    }
  }
}
# 167 "Shaders/full_attention.metal"
template <uint TILES>
METAL_FUNC void store_own_rows(MSL_THREAD SumTile (&total)[2][TILES], float scale, bool is_row, MSL_THREADGROUP float* scratch,
                               MSL_DEVICE float* to, uint lane, MSL_CONSTANT pagoda_args::PagedAttention& args) {

  for (uint first = 0; first < TILES; first += 4) {
    simdgroup_barrier(mem_flags::mem_threadgroup);

    for (uint c = 0; c < 4; ++c) {
      if (first + c < TILES) {
        simdgroup_store(total[0][first + c], scratch + c * 8, kScoreStride);
        simdgroup_store(total[1][first + c], scratch + 8 * kScoreStride + c * 8, kScoreStride);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; MSL_LOOP(i < 16); ++i) {
      const uint d = lane % 2 * 16 + i;
      if (is_row && first * 8 + d < args.dim) {
        to[first * 8 + d] = scratch[lane / 2 * kScoreStride + d] * scale;
      }
    }
  }
}


template <typename T, uint TILES>

MSL_KERNEL void full_attention(MSL_DEVICE const float* q ,
                           MSL_DEVICE const T* k_cache ,
                           MSL_DEVICE const T* v_cache ,
                           MSL_DEVICE const int* cu_seqlens ,
                           MSL_DEVICE const int* context_lens ,
                           MSL_DEVICE const int* block_tables ,
                           MSL_DEVICE float* out ,
                           MSL_CONSTANT pagoda_args::PagedAttention& args ,
                           uint2 tg ,
                           uint tid ,
                           uint sg ,
                           uint lane ) {
  MSL_TG_VAR(1, k_stage, [kStageKeys*stage_stride<TILES>()], uint4)
  MSL_TG_VAR(2, v_stage, [kStageKeys*stage_stride<TILES>()], uint4)
  MSL_TG_VAR(3, s_tile, [kSimdgroups*kOwnRows*kScoreStride], float)

  const ImageTile tile = image_tile(cu_seqlens, context_lens, tg.x, args.num_sequences);
  if (tile.rows <= 0) {
    return;
  }
  MSL_DEVICE const int* blocks = block_tables + long(tile.seq) * args.table_stride;
  MSL_DEVICE const T* k_head = k_cache + long(tg.y / args.group) * args.k_head_stride;
  MSL_DEVICE const T* v_head = v_cache + long(tg.y / args.group) * args.v_head_stride;
  MSL_THREADGROUP float* scores = s_tile + sg * kOwnRows * kScoreStride;
  MSL_THREADGROUP float* own = scores + lane / 2 * kScoreStride + lane % 2 * (kStageKeys / 2);
  const int own_key = int(lane % 2 * (kStageKeys / 2));

  simdgroup_matrix<T, 8, 8> queries[TILES][2];
  load_own_queries<T, TILES>(q + long(tile.begin + tile.row0) * args.q_stride + long(tg.y) * args.q_head_stride, queries,
                             (MSL_THREADGROUP T*)(scores), int(sg * kOwnRows), tile.rows, lane, args);
  float largest = kNegBig;
  for (int key = 0; MSL_LOOP(key < tile.context); key += int(kStageKeys)) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage_rows<T, TILES>(k_head, blocks, key, tile.context, args.k_block_stride, args.k_slot_stride, k_stage, tid, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    score_stage<T, TILES>(queries, (MSL_THREADGROUP const T*)(k_stage), scores);
    largest = largest_score((MSL_THREADGROUP const float*)(own), tile.context - key - own_key, largest);
  }
  largest = max(largest, simd_shuffle_xor(largest, ushort(1)));

  SumTile total[2][TILES];

  for (uint c = 0; c < TILES; ++c) {
    total[0][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    total[1][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  float sum = 0.0f;
  for (int key = 0; MSL_LOOP(key < tile.context); key += int(kStageKeys)) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage_rows<T, TILES>(k_head, blocks, key, tile.context, args.k_block_stride, args.k_slot_stride, k_stage, tid, args);
    stage_rows<T, TILES>(v_head, blocks, key, tile.context, args.v_block_stride, args.v_slot_stride, v_stage, tid, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    score_stage<T, TILES>(queries, (MSL_THREADGROUP const T*)(k_stage), scores);
    sum += weigh_stage<T>(scores, tile.context - key - own_key, largest, args.scale, lane);
    add_stage<T, TILES>(total, (MSL_THREADGROUP const T*)(scores), (MSL_THREADGROUP const T*)(v_stage));
  }
  sum += simd_shuffle_xor(sum, ushort(1));
  const int row = int(sg * kOwnRows + lane / 2);
  store_own_rows<TILES>(total, 1.0f / sum, row < tile.rows, scores,
                        out + long(tile.begin + tile.row0 + row) * args.out_stride +
                            long(tg.y) * args.out_head_stride,
                        lane, args);
}
# 1 "full_attention.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(bfloat), false}, {"v_cache", 2, BindingKind::buffer, sizeof(bfloat), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; full_attention<bfloat, 8>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::PagedAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; full_attention<bfloat, 9>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::PagedAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; full_attention<bfloat, 16>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::PagedAttention*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"full_attention_bf16_8", "full_attention", msl_bindings_0, {}, 128, msl_entry_0},
  {"full_attention_bf16_9", "full_attention", msl_bindings_0, {}, 128, msl_entry_1},
  {"full_attention_bf16_16", "full_attention", msl_bindings_0, {}, 128, msl_entry_2},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> full_attention_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
