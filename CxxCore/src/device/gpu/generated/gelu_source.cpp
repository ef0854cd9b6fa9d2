// The text of gelu.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gelu_source() noexcept {
  return {"gelu",
R"msl(#include "args/rows.h"
#include "norms.h"
constant constexpr float kGeluSlope = 1.5957691216057308f;
constant constexpr float kGeluCubic = 0.044715f;
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
R"msl(#define MSL_KERNEL_gelu_mul(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* x, float* out, const pagoda_args::GeluMul args) { msl_let_dependents_begin(); msl_wait_for_inputs(); gelu_mul(x, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_scale_rows(BOUNDS) MSL_GLOBAL(BOUNDS)(float* x, const pagoda_args::ScaleRows args) { msl_let_dependents_begin(); msl_wait_for_inputs(); scale_rows(x, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_gelu_mul MSL_KERNEL_gelu_mul((128))
#define MSL_ENTRY_scale_rows MSL_KERNEL_scale_rows((128))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
