// cache_latents.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/cache_latents.metal"
#include "device/gpu/generated/cache_row.h"
#include "device/gpu/generated/args_latent_attention.h"


template <typename T>

MSL_KERNEL void cache_latents(MSL_DEVICE const float* x ,
                          MSL_DEVICE const long* slot_mapping ,
                          MSL_DEVICE T* cache ,
                          MSL_CONSTANT pagoda_args::CacheLatents& args ,
                          uint token ,
                          uint lane ) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long offset = slot_mapping[token] % long(args.block_size);
  cache_row(x + long(token) * args.x_stride, cache + block * args.block_stride + offset * args.slot_stride, args.dim,
            lane);
}
# 1 "cache_latents.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; cache_latents<float>((const float*)in.buffers[0], (const long*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(half), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; cache_latents<half>((const float*)in.buffers[0], (const long*)in.buffers[1], (half*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(bfloat), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; cache_latents<bfloat>((const float*)in.buffers[0], (const long*)in.buffers[1], (bfloat*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"slot_mapping", 1, BindingKind::buffer, sizeof(long), false}, {"cache", 2, BindingKind::buffer, sizeof(char), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::CacheLatents), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; cache_latents<char>((const float*)in.buffers[0], (const long*)in.buffers[1], (char*)in.buffers[2], *(const pagoda_args::CacheLatents*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"cache_latents_f32", "cache_latents", msl_bindings_0, {}, 32, msl_entry_0},
  {"cache_latents_f16", "cache_latents", msl_bindings_1, {}, 32, msl_entry_1},
  {"cache_latents_bf16", "cache_latents", msl_bindings_2, {}, 32, msl_entry_2},
  {"cache_latents_i8", "cache_latents", msl_bindings_3, {}, 32, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> cache_latents_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
