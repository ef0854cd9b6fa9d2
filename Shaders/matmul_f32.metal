// matmul_f32: the product with f32 weights, without rounding operands.
#include "matmul.h"

// The product of a row of x and a row of weights, by one simdgroup: lanes take every 32nd column.
METAL_FUNC float lane_product(device const float* x, device const float* w, uint cols, uint lane) {
  float sum = 0.0f;
  for (uint k = lane; k < cols; k += 32) {
    sum = fma(x[k], w[k], sum);
  }
  return simd_sum(sum);
}

// One simdgroup per output column. Grid: [out_cols / 4, rows / 8]
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_f32(device const float* x [[buffer(0)]],
                         device const float* w [[buffer(1)]],
                         device const float* bias [[buffer(2)]],
                         device float* out [[buffer(3)]],
                         constant pagoda_args::Matmul& args [[buffer(4)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  const uint n = tg.x * 4 + sg;
  if (n >= args.out_cols) {
    return;
  }
  device const float* w_row = w + ulong(n) * args.padded_cols;
  const float w_bias = args.has_bias != 0 ? bias[n] : 0.0f;
  for (uint m = tg.y * 8; m < min(args.rows, tg.y * 8 + 8); ++m) {
    device const float* x_row = x + long(m) * args.x_stride;
    float value = finish(lane_product(x_row, w_row, args.cols, lane), 1.0f, 1.0f, w_bias);
    if (args.silu_mul != 0) {
      const uint other = n + args.out_cols;
      const float product = lane_product(x_row, w + ulong(other) * args.padded_cols, args.cols, lane);
      value = silu(value) * finish(product, 1.0f, 1.0f, args.has_bias != 0 ? bias[other] : 0.0f);
    }
    if (lane == 0) {
      store_out(args, out, m, n, value);
    }
  }
}
