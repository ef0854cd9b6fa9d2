// The text of rms_norm.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource rms_norm_source() noexcept {
  return {"rms_norm",
R"msl(// rms_norm: optional residual addition, then normalisation of each row. One threadgroup a row.
// Arguments of rms_norm, shared by the kernel and the host.

#ifndef __METAL_VERSION__
#include <cstddef>
#include <cstdint>
#endif

namespace pagoda_args {

struct RmsNorm {
  uint32_t width;            // H: elements of a row
  uint32_t x_stride;         // elements between rows of x
  uint32_t residual_stride;  // of residual
  uint32_t out_stride;       // of out
  float eps;
  float weight_offset;  // 1 for zero-centred weights
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}  // namespace pagoda_args

#ifndef __METAL_VERSION__
static_assert(offsetof(pagoda_args::RmsNorm, weight_offset) == 20);
#endif
// Helpers that all kernels share: genuine Metal text, translated with them for the other devices.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Stands for -infinity: Metal's fast math assumes that there is none.
constant constexpr float kNegBig = -1.0e30f;

// The sum of v over all threads of the threadgroup, in one order: lanes by butterfly, then simdgroups by index.
// `partial` has an element for each simdgroup; it may be used again after the caller's next barrier.
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}

constant bool has_residual [[function_constant(0)]];

// x, residual, out: [rows, width], rows strided; weight: [width]. With a residual, x becomes x + residual.
[[max_total_threads_per_threadgroup(256)]]
kernel void rms_norm(
    device float* x [[buffer(0)]],
    device const float* residual [[buffer(1)]],
    device const float* weight [[buffer(2)]],
    device float* out [[buffer(3)]],
    constant pagoda_args::RmsNorm& args [[buffer(4)]],
    uint row [[threadgroup_position_in_grid]],
    uint tid [[thread_index_in_threadgroup]],
    uint num_threads [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[8];
  device float* x_row = x + ulong(row) * args.x_stride;
  float sum = 0.0f;
  for (uint i = tid; i < args.width; i += num_threads) {
    float v = x_row[i];
    if (has_residual) {
      v += residual[ulong(row) * args.residual_stride + i];
      x_row[i] = v;
    }
    sum = fma(v, v, sum);
  }
  sum = threadgroup_sum(sum, partial, lane, simdgroup, num_threads / 32);
  const float scale = 1.0f / sqrt(sum / float(args.width) + args.eps);
  for (uint i = tid; i < args.width; i += num_threads) {
    out[ulong(row) * args.out_stride + i] = x_row[i] * scale * (weight[i] + args.weight_offset);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/rms_norm.metal"
# 1 "Shaders/rms_norm.metal"

# 1 "Shaders/args/rms_norm.h"








namespace pagoda_args {

struct RmsNorm {
  uint32_t width;
  uint32_t x_stride;
  uint32_t residual_stride;
  uint32_t out_stride;
  float eps;
  float weight_offset;
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}
# 3 "Shaders/rms_norm.metal"
# 1 "Shaders/common.h"



# 5 "Shaders/common.h"
# 6 "Shaders/common.h"
# 7 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}
# 4 "Shaders/rms_norm.metal"

MSL_FUNCTION_CONSTANT(bool, has_residual, 0)



MSL_KERNEL void rms_norm(
    MSL_DEVICE float* x ,
    MSL_DEVICE const float* residual ,
    MSL_DEVICE const float* weight ,
    MSL_DEVICE float* out ,
    MSL_CONSTANT pagoda_args::RmsNorm& args ,
    uint row ,
    uint tid ,
    uint num_threads ,
    uint lane ,
    uint simdgroup ) {
  MSL_TG_VAR(1, partial, [8], float)
  MSL_DEVICE float* x_row = x + ulong(row) * args.x_stride;
  float sum = 0.0f;
  for (uint i = tid; i < args.width; i += num_threads) {
    float v = x_row[i];
    if (has_residual) {
      v += residual[ulong(row) * args.residual_stride + i];
      x_row[i] = v;
    }
    sum = fma(v, v, sum);
  }
  sum = threadgroup_sum(sum, partial, lane, simdgroup, num_threads / 32);
  const float scale = 1.0f / sqrt(sum / float(args.width) + args.eps);
  for (uint i = tid; i < args.width; i += num_threads) {
    out[ulong(row) * args.out_stride + i] = x_row[i] * scale * (weight[i] + args.weight_offset);
  }
}


# 1 "rms_norm.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rms_norm)
extern "C" __global__ void __launch_bounds__(256) rms_norm(float* x, const float* __restrict__ residual, const float* __restrict__ weight, float* out, const pagoda_args::RmsNorm args) {
  rms_norm(x, residual, weight, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
