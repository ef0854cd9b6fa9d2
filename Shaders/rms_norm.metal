// rms_norm: optional residual addition, then normalisation of each row. One threadgroup per row.
#include "args/rms_norm.h"
#include "norms.h"

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
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[8];
  device float* x_row = x + ulong(row) * args.x_stride;
  const uint step = kAhead * kRowThreads;
  if (has_residual) {
    add_residual(x_row, residual + ulong(row) * args.residual_stride, args.width, tid);
  }
  const float squares = threadgroup_sum(thread_squares((device const float*)(x_row), args.width, tid), partial, lane,
                                        simdgroup, kRowSimdgroups);
  const float scale = rms_scale(squares, args.width, args.eps);
  for (uint first = tid; first < args.width; first += step) {
    float v[kAhead];
    float w[kAhead];
    load_ahead((device const float*)(x_row), first, kRowThreads, args.width, v);
    load_ahead(weight, first, kRowThreads, args.width, w);
    #pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < args.width) {
        out[ulong(row) * args.out_stride + first + j * kRowThreads] =
            normed(v[j], scale, w[j], args.weight_offset);
      }
    }
  }
}
