// rms_norm: optional residual addition, then normalisation of each row. One threadgroup a row.
#include "args/rms_norm.h"
#include "common.h"

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
