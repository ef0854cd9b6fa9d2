// rms_norm.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/rms_norm.metal"
#include "device/gpu/generated/args_rms_norm.h"
#include "device/gpu/generated/norms.h"

MSL_FUNCTION_CONSTANT(bool, has_residual, 0)
# 9 "Shaders/rms_norm.metal"
MSL_KERNEL void rms_norm(
    MSL_DEVICE float* x ,
    MSL_DEVICE const float* residual ,
    MSL_DEVICE const float* weight ,
    MSL_DEVICE float* out ,
    MSL_CONSTANT pagoda_args::RmsNorm& args ,
    uint row ,
    uint tid ,
    uint lane ,
    uint simdgroup ) {
  MSL_TG_VAR(1, partial, [8], float)
  MSL_DEVICE float* x_row = x + ulong(row) * args.x_stride;
  const uint step = kAhead * kRowThreads;
  if (has_residual) {
    add_residual(x_row, residual + ulong(row) * args.residual_stride, args.width, tid);
  }
  const float squares = threadgroup_sum(thread_squares((MSL_DEVICE const float*)(x_row), args.width, tid), partial, lane,
                                        simdgroup, kRowSimdgroups);
  const float scale = rms_scale(squares, args.width, args.eps);
  for (uint first = tid; MSL_LOOP(first < args.width); first += step) {
    float v[kAhead];
    float w[kAhead];
    load_ahead((MSL_DEVICE const float*)(x_row), first, kRowThreads, args.width, v);
    load_ahead(weight, first, kRowThreads, args.width, w);

    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < args.width) {
        out[ulong(row) * args.out_stride + first + j * kRowThreads] =
            normed(v[j], scale, w[j], args.weight_offset);
      }
    }
  }
}
# 1 "rms_norm.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), true}, {"residual", 1, BindingKind::buffer, sizeof(float), false}, {"weight", 2, BindingKind::buffer, sizeof(float), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::RmsNorm), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; rms_norm((float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::RmsNorm*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup)); }
constexpr ConstantInfo msl_constants[] = {{"has_residual", 0, ConstantType::bool_, msl_set_has_residual}};
constexpr KernelInfo msl_kernels[] = {
  {"rms_norm", "rms_norm", msl_bindings_0, msl_constants, 256, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> rms_norm_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
