// gelu: x = gelu(x), by tanh or exact. gelu_mul: out = gelu(gate) * up, by tanh. scale_rows: x = x * factor.
#include "args/rows.h"
#include "norms.h"

constant constexpr float kGeluSlope = 1.5957691216057308f;  // 2 sqrt(2 / pi)
constant constexpr float kGeluCubic = 0.044715f;

METAL_FUNC float gelu_by_tanh(float x) { return gated(x, kGeluSlope * fma(kGeluCubic * x * x, x, x)); }

// (1 - erf(z)) / 2 for z >= 0, to 8e-8: Abramowitz and Stegun, 7.1.26. Metal has no erf.
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

// Grid: [width / 128, rows]
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
  out[long(tg.y) * args.out_stride + i] = gelu_by_tanh(gate) * up;
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
