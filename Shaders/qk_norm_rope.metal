// qk_norm_rope: RMS norm of each head if there is a weight, then rotation of its first dims by the row's position.
#include "args/qk_norm_rope.h"
#include "rope.h"

// Grid: [heads, tokens], one simdgroup each. out may alias x: the whole head is read before it is written.
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
  norm_and_rotate(x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride, weight, inv_freq, positions[tg.y],
                  args.dim, args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  device float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  for (uint i = lane; i < args.dim; i += 32) {
    to[i] = head[i];
  }
}
