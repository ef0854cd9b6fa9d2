// rope_and_cache.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/rope_and_cache.metal"
#include "device/gpu/generated/args_rope_and_cache.h"
#include "device/gpu/generated/cache_row.h"
#include "device/gpu/generated/rope.h"


template <typename T>

MSL_KERNEL void rope_and_cache(MSL_DEVICE float* q ,
                           MSL_DEVICE float* k ,
                           MSL_DEVICE const float* v ,
                           MSL_DEVICE const float* q_weight ,
                           MSL_DEVICE const float* k_weight ,
                           MSL_DEVICE const int* positions ,
                           MSL_DEVICE const float* inv_freq ,
                           MSL_DEVICE const long* slot_mapping ,
                           MSL_DEVICE T* k_cache ,
                           MSL_DEVICE T* v_cache ,
                           MSL_CONSTANT pagoda_args::RopeAndCache& args ,
                           uint2 tg ,
                           uint lane ) {
  MSL_TG_VAR(1, head, [512], float)
  const long block = slot_mapping[tg.y] / long(args.block_size);
  const long offset = slot_mapping[tg.y] % long(args.block_size);
  if (tg.x >= args.q_heads + args.kv_heads) {
    const uint v_head = tg.x - args.q_heads - args.kv_heads;
    MSL_DEVICE const float* from = v + long(tg.y) * args.v_stride + long(v_head) * args.v_head_stride;
    MSL_DEVICE T* to = v_cache + block * args.v_block_stride + offset * args.v_slot_stride +
                   long(v_head) * args.v_cache_head_stride;
    cache_row(from, to, args.dim, lane);
    return;
  }
  const bool is_key = tg.x >= args.q_heads;
  const uint k_head = is_key ? tg.x - args.q_heads : 0;
  MSL_DEVICE float* at = is_key ? k + long(tg.y) * args.k_stride + long(k_head) * args.k_head_stride
                            : q + long(tg.y) * args.q_stride + long(tg.x) * args.q_head_stride;
  norm_and_rotate((MSL_DEVICE const float*)(at), is_key ? k_weight : q_weight, inv_freq, positions[tg.y], args.dim,
                  args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  for (uint i = lane; MSL_LOOP(i < args.dim); i += 32) {
    at[i] = head[i];
  }
  if (is_key) {
    MSL_DEVICE T* to = k_cache + block * args.k_block_stride + offset * args.k_slot_stride +
                   long(k_head) * args.k_cache_head_stride;
    cache_row((MSL_THREADGROUP const float*)(head), to, args.dim, lane);
  }
}
# 1 "rope_and_cache.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), true}, {"k", 1, BindingKind::buffer, sizeof(float), true}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(float), true}, {"v_cache", 9, BindingKind::buffer, sizeof(float), true}, {"args", 10, BindingKind::values, sizeof(pagoda_args::RopeAndCache), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; rope_and_cache<float>((float*)in.buffers[0], (float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (float*)in.buffers[8], (float*)in.buffers[9], *(const pagoda_args::RopeAndCache*)in.buffers[10], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), true}, {"k", 1, BindingKind::buffer, sizeof(float), true}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(half), true}, {"v_cache", 9, BindingKind::buffer, sizeof(half), true}, {"args", 10, BindingKind::values, sizeof(pagoda_args::RopeAndCache), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; rope_and_cache<half>((float*)in.buffers[0], (float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (half*)in.buffers[8], (half*)in.buffers[9], *(const pagoda_args::RopeAndCache*)in.buffers[10], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"q", 0, BindingKind::buffer, sizeof(float), true}, {"k", 1, BindingKind::buffer, sizeof(float), true}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(bfloat), true}, {"v_cache", 9, BindingKind::buffer, sizeof(bfloat), true}, {"args", 10, BindingKind::values, sizeof(pagoda_args::RopeAndCache), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; rope_and_cache<bfloat>((float*)in.buffers[0], (float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (bfloat*)in.buffers[8], (bfloat*)in.buffers[9], *(const pagoda_args::RopeAndCache*)in.buffers[10], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"q", 0, BindingKind::buffer, sizeof(float), true}, {"k", 1, BindingKind::buffer, sizeof(float), true}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"q_weight", 3, BindingKind::buffer, sizeof(float), false}, {"k_weight", 4, BindingKind::buffer, sizeof(float), false}, {"positions", 5, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 6, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 7, BindingKind::buffer, sizeof(long), false}, {"k_cache", 8, BindingKind::buffer, sizeof(char), true}, {"v_cache", 9, BindingKind::buffer, sizeof(char), true}, {"args", 10, BindingKind::values, sizeof(pagoda_args::RopeAndCache), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; rope_and_cache<char>((float*)in.buffers[0], (float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const int*)in.buffers[5], (const float*)in.buffers[6], (const long*)in.buffers[7], (char*)in.buffers[8], (char*)in.buffers[9], *(const pagoda_args::RopeAndCache*)in.buffers[10], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"rope_and_cache_f32", "rope_and_cache", msl_bindings_0, {}, 32, msl_entry_0},
  {"rope_and_cache_f16", "rope_and_cache", msl_bindings_1, {}, 32, msl_entry_1},
  {"rope_and_cache_bf16", "rope_and_cache", msl_bindings_2, {}, 32, msl_entry_2},
  {"rope_and_cache_i8", "rope_and_cache", msl_bindings_3, {}, 32, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> rope_and_cache_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
