// reshape_and_cache.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/reshape_and_cache.metal"
#include "device/gpu/generated/cache_row.h"
#include "device/gpu/generated/args_reshape_and_cache.h"


template <typename T>
MSL_KERNEL void reshape_and_cache(MSL_DEVICE const float* k ,
                              MSL_DEVICE const float* v ,
                              MSL_DEVICE const long* slot_mapping ,
                              MSL_DEVICE T* k_cache ,
                              MSL_DEVICE T* v_cache ,
                              MSL_CONSTANT pagoda_args::ReshapeAndCache& args ,
                              uint token ,
                              uint sg ,
                              uint num_sgs ,
                              uint lane ) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  for (uint head = sg; MSL_LOOP(head < 2 * args.kv_heads); head += num_sgs) {
    const bool is_key = head < args.kv_heads;
    const long h = is_key ? head : head - args.kv_heads;
    MSL_DEVICE const float* from = is_key ? k + long(token) * args.k_stride + h * args.k_head_stride
                                      : v + long(token) * args.v_stride + h * args.v_head_stride;
    MSL_DEVICE T* to =
        is_key ? k_cache + block * args.k_block_stride + offset * args.k_slot_stride + h * args.k_cache_head_stride
               : v_cache + block * args.v_block_stride + offset * args.v_slot_stride + h * args.v_cache_head_stride;
    cache_row(from, to, args.dim, lane);
  }
}
# 1 "reshape_and_cache.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(float), true}, {"v_cache", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; reshape_and_cache<float>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.simdgroups_per_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(half), true}, {"v_cache", 4, BindingKind::buffer, sizeof(half), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; reshape_and_cache<half>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (half*)in.buffers[3], (half*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.simdgroups_per_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(bfloat), true}, {"v_cache", 4, BindingKind::buffer, sizeof(bfloat), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; reshape_and_cache<bfloat>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (bfloat*)in.buffers[3], (bfloat*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.simdgroups_per_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"k", 0, BindingKind::buffer, sizeof(float), false}, {"v", 1, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 2, BindingKind::buffer, sizeof(long), false}, {"k_cache", 3, BindingKind::buffer, sizeof(char), true}, {"v_cache", 4, BindingKind::buffer, sizeof(char), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ReshapeAndCache), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; reshape_and_cache<char>((const float*)in.buffers[0], (const float*)in.buffers[1], (const long*)in.buffers[2], (char*)in.buffers[3], (char*)in.buffers[4], *(const pagoda_args::ReshapeAndCache*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.simdgroups_per_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"reshape_and_cache_f32", "reshape_and_cache", msl_bindings_0, {}, 1024, msl_entry_0},
  {"reshape_and_cache_f16", "reshape_and_cache", msl_bindings_1, {}, 1024, msl_entry_1},
  {"reshape_and_cache_bf16", "reshape_and_cache", msl_bindings_2, {}, 1024, msl_entry_2},
  {"reshape_and_cache_i8", "reshape_and_cache", msl_bindings_3, {}, 1024, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> reshape_and_cache_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
