// qk_norm_rope.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/qk_norm_rope.metal"
#include "device/gpu/generated/args_qk_norm_rope.h"
#include "device/gpu/generated/rope.h"
# 7 "Shaders/qk_norm_rope.metal"
MSL_KERNEL void qk_norm_rope(MSL_DEVICE const float* x ,
                         MSL_DEVICE const float* weight ,
                         MSL_DEVICE const int* positions ,
                         MSL_DEVICE const float* inv_freq ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::QkNormRope& args ,
                         uint2 tg ,
                         uint lane ) {
  MSL_TG_VAR(1, head, [512], float)
  norm_and_rotate(x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride, weight, inv_freq, positions[tg.y],
                  args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  MSL_DEVICE float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; MSL_LOOP(i < args.dim); i += 32) {
    to[i] = head[i];
  }
}
# 1 "qk_norm_rope.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"positions", 2, BindingKind::buffer, sizeof(int), false}, {"inv_freq", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::QkNormRope), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; qk_norm_rope((const float*)in.buffers[0], (const float*)in.buffers[1], (const int*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::QkNormRope*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"qk_norm_rope", "qk_norm_rope", msl_bindings_0, {}, 32, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> qk_norm_rope_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
