// conv.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/conv.h"
#include "device/gpu/generated/args_causal_conv1d.h"
#include "device/gpu/generated/common.h"

MSL_CONSTANT constexpr uint kUsualTaps = 4;


METAL_FUNC long tail_offset(MSL_CONSTANT pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}
# 16 "Shaders/conv.h"
METAL_FUNC float conv_row(MSL_DEVICE const float* x, MSL_DEVICE const float* tail, MSL_DEVICE const float* weight,
                          MSL_CONSTANT pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  if (args.kernel_size == kUsualTaps) {
    float inputs[kUsualTaps];
    float weights[kUsualTaps];

    for (uint i = 0; i < kUsualTaps; ++i) {
      const int at = row + int(i) + 1 - int(kUsualTaps);
      inputs[i] = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
      weights[i] = weight[long(i) * args.weight_stride];
    }

    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[i], weights[i], sum);
    }
    return silu(sum);
  }
  for (uint i = 0; MSL_LOOP(i < args.kernel_size); ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}
# 44 "Shaders/conv.h"
template <uint ROWS>
METAL_FUNC void conv_rows(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_CONSTANT pagoda_args::CausalConv1d& args,
                          int row, MSL_DEVICE float* out) {
  constexpr uint PAST = kUsualTaps - 1;
  float inputs[ROWS + PAST];
  float weights[kUsualTaps];

  for (uint i = 0; i < ROWS + PAST; ++i) {
    inputs[i] = x[long(row + int(i) - int(PAST)) * args.x_stride];
  }

  for (uint i = 0; i < kUsualTaps; ++i) {
    weights[i] = weight[long(i) * args.weight_stride];
  }

  for (uint r = 0; r < ROWS; ++r) {
    float sum = 0.0f;

    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[r + i], weights[i], sum);
    }
    out[long(r) * args.out_stride] = silu(sum);
  }
}
