// paged_attention.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/paged_attention.metal"
#include "device/gpu/generated/attention_tile.h"
# 7 "Shaders/paged_attention.metal"
template <typename T, typename C, uint RT>

MSL_KERNEL void paged_attention(MSL_DEVICE const float* q ,
                            MSL_DEVICE const C* k_cache ,
                            MSL_DEVICE const C* v_cache ,
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
  for (uint part = tile.first_part; MSL_LOOP(part <= tile.last_part); ++part) {
    add_partition<T, C, RT, EACH>(k_cache, v_cache, block_tables + long(tile.seq) * args.table_stride,
                               (MSL_THREADGROUP const T*)(q_tile), s_tile, v_tail, stats, total, tile, part, tg.y, tid, sg,
                               lane, args);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  store_rows<EACH>(total, (MSL_THREADGROUP const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid, args);
}
# 63 "Shaders/paged_attention.metal"
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
  for (uint d = tid; MSL_LOOP(d < args.dim); d += kThreads) {
    float largest = kNegBig;
    float sum = 0.0f;
    float total = 0.0f;
    for (uint part = first_part(position, args.window); MSL_LOOP(part <= uint(position) / kPartition); ++part) {
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
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"partials", 0, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 1, BindingKind::buffer, sizeof(int), false}, {"context_lens", 2, BindingKind::buffer, sizeof(int), false}, {"sinks", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention_reduce((const float*)in.buffers[0], (const int*)in.buffers[1], (const int*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::PagedAttention*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(float), false}, {"v_cache", 2, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<float, float, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(half), false}, {"v_cache", 2, BindingKind::buffer, sizeof(half), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<half, half, 1>((const float*)in.buffers[0], (const half*)in.buffers[1], (const half*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<half, half, 2>((const float*)in.buffers[0], (const half*)in.buffers[1], (const half*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(bfloat), false}, {"v_cache", 2, BindingKind::buffer, sizeof(bfloat), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<bfloat, bfloat, 1>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<bfloat, bfloat, 2>((const float*)in.buffers[0], (const bfloat*)in.buffers[1], (const bfloat*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_4[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k_cache", 1, BindingKind::buffer, sizeof(char), false}, {"v_cache", 2, BindingKind::buffer, sizeof(char), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"block_tables", 5, BindingKind::buffer, sizeof(int), false}, {"sinks", 6, BindingKind::buffer, sizeof(float), false}, {"partials", 7, BindingKind::buffer, sizeof(float), true}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::PagedAttention), false}};
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<bfloat, char, 1>((const float*)in.buffers[0], (const char*)in.buffers[1], (const char*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; paged_attention<bfloat, char, 2>((const float*)in.buffers[0], (const char*)in.buffers[1], (const char*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::PagedAttention*)in.buffers[9], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr ConstantInfo msl_constants[] = {{"use_window", 0, ConstantType::bool_, msl_set_use_window}, {"use_softcap", 1, ConstantType::bool_, msl_set_use_softcap}, {"use_sinks", 2, ConstantType::bool_, msl_set_use_sinks}, {"use_all_keys", 3, ConstantType::bool_, msl_set_use_all_keys}};
constexpr KernelInfo msl_kernels[] = {
  {"paged_attention_reduce", "paged_attention", msl_bindings_0, msl_constants, 128, msl_entry_0},
  {"paged_attention_f32_1", "paged_attention", msl_bindings_1, msl_constants, 128, msl_entry_1},
  {"paged_attention_f16_1", "paged_attention", msl_bindings_2, msl_constants, 128, msl_entry_2},
  {"paged_attention_f16_2", "paged_attention", msl_bindings_2, msl_constants, 128, msl_entry_3},
  {"paged_attention_bf16_1", "paged_attention", msl_bindings_3, msl_constants, 128, msl_entry_4},
  {"paged_attention_bf16_2", "paged_attention", msl_bindings_3, msl_constants, 128, msl_entry_5},
  {"paged_attention_i8_1", "paged_attention", msl_bindings_4, msl_constants, 128, msl_entry_6},
  {"paged_attention_i8_2", "paged_attention", msl_bindings_4, msl_constants, 128, msl_entry_7},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> paged_attention_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
