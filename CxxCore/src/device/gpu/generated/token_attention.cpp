// token_attention.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 5 "Shaders/token_attention.metal"
#include "device/gpu/generated/args_token_attention.h"
#include "device/gpu/generated/attention_tile.h"
#include "device/gpu/generated/rope.h"


template <typename C>
METAL_FUNC void rotate_heads(MSL_DEVICE const float* q, MSL_DEVICE const float* k, MSL_DEVICE const float* v,
                             MSL_DEVICE const float* q_weight, MSL_DEVICE const float* k_weight, MSL_DEVICE const float* inv_freq,
                             int position, long slot, MSL_DEVICE C* k_cache, MSL_DEVICE C* v_cache, MSL_THREADGROUP float* s_tile,
                             MSL_THREADGROUP float* k_head, bool is_last, uint sg, uint lane,
                             MSL_CONSTANT pagoda_args::RopeAndCache& args, uint group) {
  const uint num_heads = group + (is_last ? 1 : 0);
  for (uint h = sg; MSL_LOOP(h < num_heads); h += kSimdgroups) {
    const bool is_key = h == group;
    norm_and_rotate(is_key ? k : q + long(h) * args.q_head_stride, is_key ? k_weight : q_weight, inv_freq, position,
                    args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0,
                    is_key ? k_head : s_tile + h * kScores, lane);
  }
  if (is_last) {
    const long block = slot / long(args.block_size);
    const long offset = slot % long(args.block_size);
    if (sg == group % kSimdgroups) {
      cache_row((MSL_THREADGROUP const float*)(k_head),
                k_cache + block * args.k_block_stride + offset * args.k_slot_stride, args.dim, lane);
    }
    if (sg == (group + 1) % kSimdgroups) {
      cache_row(v, v_cache + block * args.v_block_stride + offset * args.v_slot_stride, args.dim, lane);
    }
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
}


template <typename T, typename C>

MSL_KERNEL void token_attention(MSL_DEVICE const float* q ,
                            MSL_DEVICE const float* k ,
                            MSL_DEVICE const float* v ,
                            MSL_DEVICE const float* q_weight ,
                            MSL_DEVICE const float* k_weight ,
                            MSL_DEVICE const int* positions ,
                            MSL_DEVICE const float* inv_freq ,
                            MSL_DEVICE const long* slot_mapping ,
                            MSL_DEVICE C* k_cache ,
                            MSL_DEVICE C* v_cache ,
                            MSL_DEVICE const int* context_lens ,
                            MSL_DEVICE const int* block_tables ,
                            MSL_DEVICE const float* sinks ,
                            MSL_DEVICE float* partials ,
                            MSL_DEVICE float* out ,
                            MSL_CONSTANT pagoda_args::TokenAttention& args ,
                            uint3 tg ,
                            uint tid ,
                            uint sg ,
                            uint lane ) {
  constexpr uint ROWS = 8;
  constexpr uint EACH = ROWS * kMaxDim / kThreads;
  MSL_TG_VAR(1, q_tile, [ROWS*kQueryStride], T)
  MSL_TG_VAR(2, s_tile, [ROWS*kScores], float)
  MSL_TG_VAR(3, v_tail, [8*kMaxDim], T)
  MSL_TG_VAR(4, k_head, [kMaxDim], float)
  MSL_TG_VAR(5, stats, [ROWS*kStats], float)

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
  for (uint i = tid; MSL_LOOP(i < ROWS * kMaxDim); i += kThreads) {
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
  add_partition<T, C, 1, EACH>((MSL_DEVICE const C*)(k_cache), (MSL_DEVICE const C*)(v_cache),
                               block_tables + long(tg.x) * args.attention.table_stride,
                               (MSL_THREADGROUP const T*)(q_tile), s_tile, v_tail, stats, total, tile, tg.z, tg.y,
                               tid, sg, lane, args.attention);
  store_rows<EACH>(total, (MSL_THREADGROUP const float*)(stats), sinks, partials, out, tile, tg.y, tg.z, tid,
                   args.attention);
}
# 1 "token_attention.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(float), true}, {"v_cache", 9, BindingKind::buffer, sizeof(float), true}, {"context_lens", 10, BindingKind::buffer, sizeof(int), false}, {"block_tables", 11, BindingKind::buffer, sizeof(int), false}, {"sinks", 12, BindingKind::buffer, sizeof(float), false}, {"partials", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::TokenAttention), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; token_attention<float, float>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], (const int*)in.buffers[10], (const int*)in.buffers[11], (const float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::TokenAttention*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(half), true}, {"v_cache", 9, BindingKind::buffer, sizeof(half), true}, {"context_lens", 10, BindingKind::buffer, sizeof(int), false}, {"block_tables", 11, BindingKind::buffer, sizeof(int), false}, {"sinks", 12, BindingKind::buffer, sizeof(float), false}, {"partials", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::TokenAttention), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; token_attention<half, half>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (half*)in.buffers[8], (half*)in.buffers[9], (const int*)in.buffers[10], (const int*)in.buffers[11], (const float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::TokenAttention*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(bfloat), true}, {"v_cache", 9, BindingKind::buffer, sizeof(bfloat), true}, {"context_lens", 10, BindingKind::buffer, sizeof(int), false}, {"block_tables", 11, BindingKind::buffer, sizeof(int), false}, {"sinks", 12, BindingKind::buffer, sizeof(float), false}, {"partials", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::TokenAttention), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; token_attention<bfloat, bfloat>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (bfloat*)in.buffers[8], (bfloat*)in.buffers[9], (const int*)in.buffers[10], (const int*)in.buffers[11], (const float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::TokenAttention*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(char), true}, {"v_cache", 9, BindingKind::buffer, sizeof(char), true}, {"context_lens", 10, BindingKind::buffer, sizeof(int), false}, {"block_tables", 11, BindingKind::buffer, sizeof(int), false}, {"sinks", 12, BindingKind::buffer, sizeof(float), false}, {"partials", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::TokenAttention), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; token_attention<bfloat, char>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (char*)in.buffers[8], (char*)in.buffers[9], (const int*)in.buffers[10], (const int*)in.buffers[11], (const float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::TokenAttention*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr ConstantInfo msl_constants[] = {{"use_window", 0, ConstantType::bool_, msl_set_use_window}, {"use_softcap", 1, ConstantType::bool_, msl_set_use_softcap}, {"use_sinks", 2, ConstantType::bool_, msl_set_use_sinks}, {"use_all_keys", 3, ConstantType::bool_, msl_set_use_all_keys}};
constexpr KernelInfo msl_kernels[] = {
  {"token_attention_f32", "token_attention", msl_bindings_0, msl_constants, 128, msl_entry_0},
  {"token_attention_f16", "token_attention", msl_bindings_1, msl_constants, 128, msl_entry_1},
  {"token_attention_bf16", "token_attention", msl_bindings_2, msl_constants, 128, msl_entry_2},
  {"token_attention_i8", "token_attention", msl_bindings_3, msl_constants, 128, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> token_attention_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
