// The text of gelu.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gelu_source() noexcept {
  return {"gelu",
R"msl(#include "args/rows.h"
#include "norms.h"
constant constexpr float kGeluSlope = 1.5957691216057308f;
constant constexpr float kGeluCubic = 0.044715f;
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
[[max_total_threads_per_threadgroup(128)]]
kernel void gelu(device float* x [[buffer(0)]],
                 constant pagoda_args::Gelu& args [[buffer(1)]],
                 uint2 tg [[threadgroup_position_in_grid]],
                 uint tid [[thread_index_in_threadgroup]]) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  device float* at = x + long(tg.y) * args.x_stride + i;
  *at = args.is_exact != 0 ? gelu_exact(*at) : gelu_by_tanh(*at);
}
[[max_total_threads_per_threadgroup(128)]]
kernel void gelu_mul(device const float* x [[buffer(0)]],
                     device float* out [[buffer(1)]],
                     constant pagoda_args::GeluMul& args [[buffer(2)]],
                     uint2 tg [[threadgroup_position_in_grid]],
                     uint tid [[thread_index_in_threadgroup]]) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  device const float* row = x + long(tg.y) * args.x_stride;
  const float gate = row[i];
  const float up = row[args.width + i];
  out[long(tg.y) * args.out_stride + i] = gelu_by_tanh(gate) * up;
}
[[max_total_threads_per_threadgroup(128)]]
kernel void scale_rows(device float* x [[buffer(0)]],
                       constant pagoda_args::ScaleRows& args [[buffer(1)]],
                       uint2 tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]]) {
  const uint i = tg.x * 128 + tid;
  if (i >= args.width) {
    return;
  }
  device float* row = x + long(tg.y) * args.x_stride;
  row[i] = row[i] * args.factor;
}
)msl",
R"msl(#define MSL_KERNEL_gelu(BOUNDS) MSL_GLOBAL(BOUNDS)(float* x, const pagoda_args::Gelu args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gelu(x, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_gelu_mul(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, float* out, const pagoda_args::GeluMul args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gelu_mul(x, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_scale_rows(BOUNDS) MSL_GLOBAL(BOUNDS)(float* x, const pagoda_args::ScaleRows args) { msl_let_dependents_begin(); msl_wait_for_inputs(); scale_rows(x, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_gelu MSL_KERNEL_gelu((128))
#define MSL_ENTRY_gelu_mul MSL_KERNEL_gelu_mul((128))
#define MSL_ENTRY_scale_rows MSL_KERNEL_scale_rows((128))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
