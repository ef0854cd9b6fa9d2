// norms.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/norms.h"
#include "device/gpu/generated/common.h"

MSL_CONSTANT constexpr uint kRowThreads = 256;
MSL_CONSTANT constexpr uint kRowSimdgroups = 8;

MSL_CONSTANT constexpr uint kAhead = 8;


METAL_FUNC void add_residual(MSL_DEVICE float* x, MSL_DEVICE const float* residual, uint width, uint tid) {
  for (uint first = tid; MSL_LOOP(first < width); first += kAhead * kRowThreads) {
    float v[kAhead];
    float r[kAhead];
    load_ahead<kAhead>((MSL_DEVICE const float*)(x), first, kRowThreads, width, v);
    load_ahead<kAhead>(residual, first, kRowThreads, width, r);

    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < width) {
        x[first + j * kRowThreads] = v[j] + r[j];
      }
    }
  }
}


METAL_FUNC float thread_squares(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; MSL_LOOP(first < width); first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);

    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }


METAL_FUNC float head_scale(MSL_DEVICE const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint first = lane; MSL_LOOP(first < dim); first += kAhead * 32) {
    float v[kAhead];
    load_ahead<kAhead>(head, first, 32, dim, v);

    for (uint j = 0; j < kAhead; ++j) {
      squares = fma(v[j], v[j], squares);
    }
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
