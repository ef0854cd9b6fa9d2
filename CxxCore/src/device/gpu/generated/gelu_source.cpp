// The text of gelu.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gelu_source() noexcept {
  return {"gelu",
R"msl(#pragma METAL fp contract(off)
// gelu_mul: out = gelu(gate) * up, with the tanh form of gelu. scale_rows: x = x * factor.
#include "args/rows.h"
#include "norms.h"

constant constexpr float kGeluSlope = 1.5957691216057308f;  // 2 sqrt(2 / pi)
constant constexpr float kGeluCubic = 0.044715f;

// Grid: [width / 128, tokens]. out may be the first half of x.
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
  out[long(tg.y) * args.out_stride + i] = gated(gate, kGeluSlope * fma(kGeluCubic * gate * gate, gate, gate)) * up;
}

// Grid: [width / 128, rows]
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
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/gelu.metal"
#include "Shaders/args/rows.h"
#include "Shaders/norms.h"

MSL_CONSTANT constexpr float kGeluSlope = 1.5957691216057308f;
MSL_CONSTANT constexpr float kGeluCubic = 0.044715f;
# 10 "Shaders/gelu.metal"
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
  out[long(tg.y) * args.out_stride + i] = gated(gate, kGeluSlope * fma(kGeluCubic * gate * gate, gate, gate)) * up;
}
# 27 "Shaders/gelu.metal"
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
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gelu_mul)
extern "C" __global__ void __launch_bounds__(128) gelu_mul(const float* x, float* out, const pagoda_args::GeluMul args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  gelu_mul(x, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_scale_rows)
extern "C" __global__ void __launch_bounds__(128) scale_rows(float* x, const pagoda_args::ScaleRows args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  scale_rows(x, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
