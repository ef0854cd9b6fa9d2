// The text of paged_attention.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource paged_attention_source() noexcept {
  return {"paged_attention",
R"msl(#include "attention_tile.h"
template <typename T, typename C, uint RT>
[[max_total_threads_per_threadgroup(128)]]
kernel void paged_attention(device const float* q [[buffer(0)]],
                            device const C* k_cache [[buffer(1)]],
                            device const C* v_cache [[buffer(2)]],
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
  constexpr uint EACH = ROWS * kMaxDim / kThreads;
  MSL_SHARED T q_tile[ROWS * kQueryStride];
  MSL_SHARED float s_tile[ROWS * kScores];
  MSL_SHARED T v_tail[8 * kMaxDim];
  MSL_SHARED float stats[ROWS * kStats];
  const RowTile tile = tile_at<ROWS>(cu_seqlens, context_lens, tg, args);
  if (tile.num_rows <= 0) {
    return;
  }
  load_queries<T, ROWS>(q, q_tile, tile, tg.y, tid, args);
  float total[EACH];
  begin_rows<RT, EACH>(stats, total, tid);
  for (uint part = tile.first_part; part <= tile.last_part; ++part) {
    add_partition<T, C, RT, EACH>(k_cache, v_cache, block_tables + long(tile.seq) * args.table_stride,
                               (threadgroup const T*)(q_tile), s_tile, v_tail, stats, total, tile, part, tg.y, tid, sg,
                               lane, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  store_rows<EACH>(total, (threadgroup const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid, args);
}
MSL_INSTANCE(paged_attention_f32_1, paged_attention, float, float, 1)
MSL_INSTANCE(paged_attention_f16_1, paged_attention, half, half, 1)
MSL_INSTANCE(paged_attention_f16_2, paged_attention, half, half, 2)
MSL_INSTANCE(paged_attention_bf16_1, paged_attention, bfloat, bfloat, 1)
MSL_INSTANCE(paged_attention_bf16_2, paged_attention, bfloat, bfloat, 2)
MSL_INSTANCE(paged_attention_i8_1, paged_attention, bfloat, char, 1)
MSL_INSTANCE(paged_attention_i8_2, paged_attention, bfloat, char, 2)
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
  for (uint d = tid; d < args.dim; d += kThreads) {
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
    out[long(begin) * args.out_stride + long(tg.x) * args.out_head_stride + d] =
        total * scale_to_end(largest, sum, sink);
  }
}
)msl",
R"msl(#define MSL_KERNEL_paged_attention_reduce(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* partials, const int* cu_seqlens, const int* context_lens, const float* sinks, float* out, const pagoda_args::PagedAttention args) { msl_let_dependents_begin(); msl_wait_for_inputs(); paged_attention_reduce(partials, cu_seqlens, context_lens, sinks, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_paged_attention(BOUNDS, T, C, RT) MSL_GLOBAL(BOUNDS)(const float* q, const C* k_cache, const C* v_cache, const int* cu_seqlens, const int* context_lens, const int* block_tables, const float* sinks, float* partials, float* out, const pagoda_args::PagedAttention args) { msl_let_dependents_begin(); msl_wait_for_inputs(); paged_attention<T, C, RT>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_paged_attention_reduce MSL_KERNEL_paged_attention_reduce((128))
#define MSL_ENTRY_paged_attention_f32_1 MSL_KERNEL_paged_attention((128, 2), float, float, 1)
#define MSL_ENTRY_paged_attention_f16_1 MSL_KERNEL_paged_attention((128), half, half, 1)
#define MSL_ENTRY_paged_attention_f16_2 MSL_KERNEL_paged_attention((128, 2), half, half, 2)
#define MSL_ENTRY_paged_attention_bf16_1 MSL_KERNEL_paged_attention((128), bfloat, bfloat, 1)
#define MSL_ENTRY_paged_attention_bf16_2 MSL_KERNEL_paged_attention((128, 2), bfloat, bfloat, 2)
#define MSL_ENTRY_paged_attention_i8_1 MSL_KERNEL_paged_attention((128), bfloat, char, 1)
#define MSL_ENTRY_paged_attention_i8_2 MSL_KERNEL_paged_attention((128, 2), bfloat, char, 2)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
