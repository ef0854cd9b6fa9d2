// gelu.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/gelu.metal"
#include "device/gpu/generated/args_rows.h"
#include "device/gpu/generated/norms.h"

MSL_CONSTANT constexpr float kGeluSlope = 1.5957691216057308f;
MSL_CONSTANT constexpr float kGeluCubic = 0.044715f;

METAL_FUNC float gelu_by_tanh(float x) { return gated(x, kGeluSlope * fma(kGeluCubic * x * x, x, x)); }


METAL_FUNC float half_erfc(float z) {
  const float t = 1.0f / fma(0.3275911f, z, 1.0f);
  float sum = fma(1.061405429f, t, -1.453152027f);
  sum = fma(sum, t, 1.421413741f);
  sum = fma(sum, t, -0.284496736f);
  sum = fma(sum, t, 0.254829592f);
  return 0.5f * sum * t * precise::exp(-z * z);
}

METAL_FUNC float gelu_exact(float x) {
  const float tail = half_erfc(abs(x) * 0.70710678f);
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
# 27 "Shaders/gelu.metal"
MSL_KERNEL void gelu(MSL_DEVICE float* x ,
                 MSL_CONSTANT pagoda_args::Gelu& args ,
                 uint2 tg ,
                 uint tid ) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  MSL_DEVICE float* at = x + long(tg.y) * args.x_stride + i;
  *at = args.is_exact != 0 ? gelu_exact(*at) : gelu_by_tanh(*at);
}
# 41 "Shaders/gelu.metal"
MSL_KERNEL void gelu_mul(MSL_DEVICE const float* x ,
                     MSL_DEVICE float* out ,
                     MSL_CONSTANT pagoda_args::GeluMul& args ,
                     uint2 tg ,
                     uint tid ) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  MSL_DEVICE const float* row = x + long(tg.y) * args.x_stride;
  const float gate = row[i];
  const float up = row[args.width + i];
  out[long(tg.y) * args.out_stride + i] = gelu_by_tanh(gate) * up;
}
# 58 "Shaders/gelu.metal"
MSL_KERNEL void scale_rows(MSL_DEVICE float* x ,
                       MSL_CONSTANT pagoda_args::ScaleRows& args ,
                       uint2 tg ,
                       uint tid ) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  MSL_DEVICE float* row = x + long(tg.y) * args.x_stride;
  row[i] = row[i] * args.factor;
}
# 1 "gelu.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), true}, {"args", 1, BindingKind::values, sizeof(pagoda_args::Gelu), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gelu((float*)in.buffers[0], *(const pagoda_args::Gelu*)in.buffers[1], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"out", 1, BindingKind::buffer, sizeof(float), true}, {"args", 2, BindingKind::values, sizeof(pagoda_args::GeluMul), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gelu_mul((const float*)in.buffers[0], (float*)in.buffers[1], *(const pagoda_args::GeluMul*)in.buffers[2], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), true}, {"args", 1, BindingKind::values, sizeof(pagoda_args::ScaleRows), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; scale_rows((float*)in.buffers[0], *(const pagoda_args::ScaleRows*)in.buffers[1], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"gelu", "gelu", msl_bindings_0, {}, 128, msl_entry_0},
  {"gelu_mul", "gelu", msl_bindings_1, {}, 128, msl_entry_1},
  {"scale_rows", "gelu", msl_bindings_2, {}, 128, msl_entry_2},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gelu_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
