// The text of layer_norm.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource layer_norm_source() noexcept {
  return {"layer_norm",
R"msl(#include "args/layer_norm.h"
#include "norms.h"
MSL_FUNCTION_CONSTANT(bool, has_residual, 0)
METAL_FUNC float thread_sum(device const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum += v[j];
    }
  }
  return sum;
}
METAL_FUNC float thread_distances(device const float* row, float mean, uint width, uint tid) {
  float sum = 0.0f;
  for (uint i = tid; i < width; i += kRowThreads) {
    const float distance = row[i] - mean;
    sum = fma(distance, distance, sum);
  }
  return sum;
}
[[max_total_threads_per_threadgroup(256)]]
kernel void layer_norm(device float* x [[buffer(0)]],
                       device const float* residual [[buffer(1)]],
                       device const float* weight [[buffer(2)]],
                       device const float* bias [[buffer(3)]],
                       device float* out [[buffer(4)]],
                       constant pagoda_args::LayerNorm& args [[buffer(5)]],
                       uint row [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  MSL_SHARED float sums[kRowSimdgroups];
  MSL_SHARED float squares[kRowSimdgroups];
  device float* x_row = x + long(row) * args.x_stride;
  if (has_residual) {
    add_residual(x_row, residual + long(row) * args.residual_stride, args.width, tid);
  }
  device const float* from = (device const float*)(x_row);
  const float count = float(args.width);
  const float mean =
      threadgroup_sum(thread_sum(from, args.width, tid), sums, lane, simdgroup, kRowSimdgroups) / count;
  const float distances =
      threadgroup_sum(thread_distances(from, mean, args.width, tid), squares, lane, simdgroup, kRowSimdgroups);
  const float scale = 1.0f / sqrt(distances / count + args.eps);
  device float* to = out + long(row) * args.out_stride;
  for (uint i = tid; i < args.width; i += kRowThreads) {
    to[i] = fma((from[i] - mean) * scale, weight[i], bias[i]);
  }
}
)msl",
R"msl(#define MSL_KERNEL_layer_norm(BOUNDS) MSL_GLOBAL(BOUNDS)(float* x, const float* residual, const float* weight, const float* bias, float* out, const pagoda_args::LayerNorm args) { msl_let_dependents_begin(); msl_wait_for_inputs(); layer_norm(x, residual, weight, bias, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup())); }
#define MSL_ENTRY_layer_norm MSL_KERNEL_layer_norm((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
