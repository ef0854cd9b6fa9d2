// The text of paged_attention.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource paged_attention_source() noexcept {
  return {"paged_attention",
R"msl(#pragma METAL fp contract(off)
// paged_attention: a tile of rows against its sequence's partitions, and the merge of partitions; paged_attention.h
// gives the order.
#include "attention_tile.h"

// RT tiles of 8 rows. Grid: [tiles, KV heads, partitions]; tiles of several tokens run at partition 0 only and loop
// over the partitions.
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
  constexpr uint EACH = ROWS * kMaxDim / kThreads;  // output elements per thread
  threadgroup T q_tile[ROWS * kQueryStride];
  threadgroup float s_tile[ROWS * kScores];  // scores, weights, then the partition's output
  threadgroup T v_tail[8 * kMaxDim];         // the values of the last 8 keys, zero past the end
  threadgroup float stats[ROWS * kStats];

  const RowTile tile = tile_at<ROWS>(cu_seqlens, context_lens, tg, args);
  if (tile.num_rows <= 0) {
    return;
  }
  load_queries<T, ROWS>(q, q_tile, tile, tg.y, tid, args);
  float total[EACH];
  begin_rows<RT, EACH>(stats, total, tid);
  for (uint part = tile.first_part; part <= tile.last_part; ++part) {
    add_partition<T, RT, EACH>(k_cache, v_cache, block_tables + long(tile.seq) * args.table_stride,
                               (threadgroup const T*)(q_tile), s_tile, v_tail, stats, total, tile, part, tg.y, tid, sg,
                               lane, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  store_rows<EACH>(total, (threadgroup const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid, args);
}

template [[host_name("paged_attention_f32_1")]]
kernel decltype(paged_attention<float, 1>) paged_attention<float, 1>;
template [[host_name("paged_attention_f16_1")]]
kernel decltype(paged_attention<half, 1>) paged_attention<half, 1>;
template [[host_name("paged_attention_f16_2")]]
kernel decltype(paged_attention<half, 2>) paged_attention<half, 2>;
template [[host_name("paged_attention_bf16_1")]]
kernel decltype(paged_attention<bfloat, 1>) paged_attention<bfloat, 1>;
template [[host_name("paged_attention_bf16_2")]]
kernel decltype(paged_attention<bfloat, 2>) paged_attention<bfloat, 2>;

// Merges the partitions of single tokens, in order. Grid: [heads, sequences]
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
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 3 "Shaders/paged_attention.metal"
#include "Shaders/attention_tile.h"
# 7 "Shaders/paged_attention.metal"
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
  constexpr uint EACH = ROWS * kMaxDim / kThreads;
  MSL_TG_VAR(1, q_tile, [ROWS*kQueryStride], T)
  MSL_TG_VAR(2, s_tile, [ROWS*kScores], float)
  MSL_TG_VAR(3, v_tail, [8*kMaxDim], T)
  MSL_TG_VAR(4, stats, [ROWS*kStats], float)

  const RowTile tile = tile_at<ROWS>(cu_seqlens, context_lens, tg, args);
  if (tile.num_rows <= 0) {
    return;
  }
  load_queries<T, ROWS>(q, q_tile, tile, tg.y, tid, args);
  float total[EACH];
  begin_rows<RT, EACH>(stats, total, tid);
  for (uint part = tile.first_part; part <= tile.last_part; ++part) {
    add_partition<T, RT, EACH>(k_cache, v_cache, block_tables + long(tile.seq) * args.table_stride,
                               (MSL_THREADGROUP const T*)(q_tile), s_tile, v_tail, stats, total, tile, part, tg.y, tid, sg,
                               lane, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  store_rows<EACH>(total, (MSL_THREADGROUP const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid, args);
}
# 59 "Shaders/paged_attention.metal"
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
  for (uint d = tid; d < args.dim; d += kThreads) {
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
  paged_attention<float, 1>(q, k_cache, v_cache, cu_seqlens, context_lens, block_tables, sinks, partials, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
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
