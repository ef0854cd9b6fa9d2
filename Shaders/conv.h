// One channel of causal_conv1d: a short window over time, whose past inputs are in a ring.
#pragma once

#include "args/causal_conv1d.h"
#include "common.h"

constant constexpr uint kUsualTaps = 4;  // with this many, all loads are in flight at once

// Offset in the ring of a position, which is at least -tail_rows.
METAL_FUNC long tail_offset(constant pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}

// x, tail, weight: at the channel; x at the sequence's first row in this step, which is at `position`. Inputs before it
// are in the tail.
METAL_FUNC float conv_row(device const float* x, device const float* tail, device const float* weight,
                          constant pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  if (args.kernel_size == kUsualTaps) {
    float inputs[kUsualTaps];
    float weights[kUsualTaps];
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      const int at = row + int(i) + 1 - int(kUsualTaps);
      inputs[i] = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
      weights[i] = weight[long(i) * args.weight_stride];
    }
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[i], weights[i], sum);
    }
    return silu(sum);
  }
  for (uint i = 0; i < args.kernel_size; ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}

// ROWS rows starting at `row`, all after the sequence's first three in this step: shared inputs are loaded once, with
// all loads in flight at once.
template <uint ROWS>
METAL_FUNC void conv_rows(device const float* x, device const float* weight, constant pagoda_args::CausalConv1d& args,
                          int row, device float* out) {
  constexpr uint PAST = kUsualTaps - 1;
  float inputs[ROWS + PAST];
  float weights[kUsualTaps];
#pragma unroll
  for (uint i = 0; i < ROWS + PAST; ++i) {
    inputs[i] = x[long(row + int(i) - int(PAST)) * args.x_stride];
  }
#pragma unroll
  for (uint i = 0; i < kUsualTaps; ++i) {
    weights[i] = weight[long(i) * args.weight_stride];
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    float sum = 0.0f;
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[r + i], weights[i], sum);
    }
    out[long(r) * args.out_stride] = silu(sum);
  }
}
