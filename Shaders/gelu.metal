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
