// qk_norm_rope: RMS norm of each head where there is a weight, then rotation of its first dims by the row's position.
#include "common.h"
#include "args/qk_norm_rope.h"

// Grid: [heads, tokens], one simdgroup each. out may be x: the head is read whole before it is written.
[[max_total_threads_per_threadgroup(32)]]
kernel void qk_norm_rope(device const float* x [[buffer(0)]],
                         device const float* weight [[buffer(1)]],
                         device const int* positions [[buffer(2)]],
                         device const float* inv_freq [[buffer(3)]],
                         device float* out [[buffer(4)]],
                         constant pagoda_args::QkNormRope& args [[buffer(5)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head[512];
  device const float* from = x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride;
  float squares = 0.0f;
  for (uint i = lane; i < args.dim; i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (args.has_weight != 0) {
    const float scale = precise::rsqrt(sum / float(args.dim) + args.eps);
    for (uint i = lane; i < args.dim; i += 32) {
      head[i] = head[i] * scale * (weight[i] + args.weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);  // in place, the device's reads are done
  device float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; i < args.half_rotary; i += 32) {
    const float angle = float(positions[tg.y]) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + args.half_rotary];
    to[i] = a * c - b * s;
    to[i + args.half_rotary] = b * c + a * s;
  }
  for (uint i = 2 * args.half_rotary + lane; i < args.dim; i += 32) {
    to[i] = head[i];
  }
}
