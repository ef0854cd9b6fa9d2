// rms_norm: optional residual addition, then normalisation of each row. One threadgroup a row.
#include "args/rms_norm.h"
#include "common.h"

constant bool has_residual [[function_constant(0)]];

// Loads in flight of a thread: with one row there is nothing else to wait beside, and every step has two norms a layer.
constant constexpr uint kAhead = 8;

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
  const uint step = kAhead * num_threads;
  float sum = 0.0f;
  for (uint first = tid; first < args.width; first += step) {
    float v[kAhead];
    load_ahead((device const float*)(x_row), first, num_threads, args.width, v);
    if (has_residual) {
      float r[kAhead];
      load_ahead(residual + ulong(row) * args.residual_stride, first, num_threads, args.width, r);
      #pragma unroll
      for (uint j = 0; j < kAhead; ++j) {
        v[j] += r[j];
        if (first + j * num_threads < args.width) {
          x_row[first + j * num_threads] = v[j];
        }
      }
    }
    #pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  sum = threadgroup_sum(sum, partial, lane, simdgroup, num_threads / 32);
  const float scale = 1.0f / sqrt(sum / float(args.width) + args.eps);
  for (uint first = tid; first < args.width; first += step) {
    float v[kAhead];
    float w[kAhead];
    load_ahead((device const float*)(x_row), first, num_threads, args.width, v);
    load_ahead(weight, first, num_threads, args.width, w);
    #pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * num_threads < args.width) {
        out[ulong(row) * args.out_stride + first + j * num_threads] = v[j] * scale * (w[j] + args.weight_offset);
      }
    }
  }
}
