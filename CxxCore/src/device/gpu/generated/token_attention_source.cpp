// The text of token_attention.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource token_attention_source() noexcept {
  return {"token_attention",
R"msl(#include "args/token_attention.h"
#include "attention_tile.h"
#include "rope.h"
template <typename C>
METAL_FUNC void rotate_heads(device const float* q, device const float* k, device const float* v,
                             device const float* q_weight, device const float* k_weight, device const float* inv_freq,
                             int position, long slot, device C* k_cache, device C* v_cache, threadgroup float* s_tile,
                             threadgroup float* k_head, bool is_last, uint sg, uint lane,
                             constant pagoda_args::RopeAndCache& args, uint group) {
  const uint num_heads = group + (is_last ? 1 : 0);
  for (uint h = sg; h < num_heads; h += kSimdgroups) {
    const bool is_key = h == group;
    norm_and_rotate(is_key ? k : q + long(h) * args.q_head_stride, is_key ? k_weight : q_weight, inv_freq, position,
                    args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0,
                    is_key ? k_head : s_tile + h * kScores, lane);
  }
  if (is_last) {
    const long block = slot / long(args.block_size);
    const long offset = slot % long(args.block_size);
    if (sg == group % kSimdgroups) {
      cache_row((threadgroup const float*)(k_head),
                k_cache + block * args.k_block_stride + offset * args.k_slot_stride, args.dim, lane);
    }
    if (sg == (group + 1) % kSimdgroups) {
      cache_row(v, v_cache + block * args.v_block_stride + offset * args.v_slot_stride, args.dim, lane);
    }
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
}
template <typename T, typename C>
[[max_total_threads_per_threadgroup(128)]]
kernel void token_attention(device const float* q [[buffer(0)]],
                            device const float* k [[buffer(1)]],
                            device const float* v [[buffer(2)]],
                            device const float* q_weight [[buffer(3)]],
                            device const float* k_weight [[buffer(4)]],
                            device const int* positions [[buffer(5)]],
                            device const float* inv_freq [[buffer(6)]],
                            device const long* slot_mapping [[buffer(7)]],
                            device C* k_cache [[buffer(8)]],
                            device C* v_cache [[buffer(9)]],
                            device const int* context_lens [[buffer(10)]],
                            device const int* block_tables [[buffer(11)]],
                            device const float* sinks [[buffer(12)]],
                            device float* partials [[buffer(13)]],
                            device float* out [[buffer(14)]],
                            constant pagoda_args::TokenAttention& args [[buffer(15)]],
                            uint3 tg [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 8;
  constexpr uint EACH = ROWS * kMaxDim / kThreads;
  MSL_SHARED T q_tile[ROWS * kQueryStride];
  MSL_SHARED float s_tile[ROWS * kScores];
  MSL_SHARED T v_tail[8 * kMaxDim];
  MSL_SHARED float k_head[kMaxDim];
  MSL_SHARED float stats[ROWS * kStats];
  RowTile tile;
  tile.seq = tg.x;
  tile.begin = int(tg.x);
  tile.tokens = 1;
  tile.context = context_lens[tg.x];
  tile.row0 = 0;
  tile.num_rows = int(args.attention.group);
  tile.first_part = tg.z;
  tile.last_part = tg.z;
  tile.is_split = args.attention.is_split != 0;
  const int position = tile.context - 1;
  const int first_key = int(tg.z * kPartition);
  const bool is_last = tg.z == uint(position) / kPartition;
  const bool is_seen = !use_window || first_key + int(kPartition) > position - int(args.attention.window) + 1;
  if (first_key > position || !is_seen) {
    return;
  }
  rotate_heads<C>(q + long(tg.x) * args.rope.q_stride + long(tg.y) * args.attention.group * args.rope.q_head_stride,
                  k + long(tg.x) * args.rope.k_stride + long(tg.y) * args.rope.k_head_stride,
                  v + long(tg.x) * args.rope.v_stride + long(tg.y) * args.rope.v_head_stride, q_weight, k_weight,
                  inv_freq, positions[tg.x], slot_mapping[tg.x],
                  k_cache + long(tg.y) * args.rope.k_cache_head_stride,
                  v_cache + long(tg.y) * args.rope.v_cache_head_stride, s_tile, k_head, is_last, sg, lane,
                  args.rope, args.attention.group);
  for (uint i = tid; i < ROWS * kMaxDim; i += kThreads) {
    const uint r = i / kMaxDim;
    const uint d = i % kMaxDim;
    float value = 0.0f;
    if (d < args.rope.dim) {
      value = s_tile[min(r, args.attention.group - 1) * kScores + d];
    }
    q_tile[r * kQueryStride + d] = T(value);
  }
  float total[EACH];
  begin_rows<1, EACH>(stats, total, tid);
  add_partition<T, C, 1, EACH>((device const C*)(k_cache), (device const C*)(v_cache),
                               block_tables + long(tg.x) * args.attention.table_stride,
                               (threadgroup const T*)(q_tile), s_tile, v_tail, stats, total, tile, tg.z, tg.y,
                               tid, sg, lane, args.attention);
  store_rows<EACH>(total, (threadgroup const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid,
                   args.attention);
}
MSL_INSTANCE(token_attention_f32, token_attention, float, float)
MSL_INSTANCE(token_attention_f16, token_attention, half, half)
MSL_INSTANCE(token_attention_bf16, token_attention, bfloat, bfloat)
MSL_INSTANCE(token_attention_i8, token_attention, bfloat, char)
)msl",
R"msl(#define MSL_KERNEL_token_attention(BOUNDS, T, C) MSL_GLOBAL(BOUNDS)(const float* q, const float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, C* k_cache, C* v_cache, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::TokenAttention args) { msl_let_dependents_begin(); msl_wait_for_inputs(); token_attention<T, C>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_token_attention_f32 MSL_KERNEL_token_attention((128, 2), float, float)
#define MSL_ENTRY_token_attention_f16 MSL_KERNEL_token_attention((128), half, half)
#define MSL_ENTRY_token_attention_bf16 MSL_KERNEL_token_attention((128), bfloat, bfloat)
#define MSL_ENTRY_token_attention_i8 MSL_KERNEL_token_attention((128, 2), bfloat, char)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
