// Norms and gates of activations, shared by their own kernels and the matmuls that compute their rows.
#pragma once

#include "common.h"

constant constexpr uint kRowThreads = 256;  // threads that sum a row's squares; affects result bits
constant constexpr uint kRowSimdgroups = 8;
// Loads in flight per thread: with one row there is no other work to hide their latency.
constant constexpr uint kAhead = 8;

// x += residual, by all threads of a row. Each thread reads back only what it wrote itself.
METAL_FUNC void add_residual(device float* x, device const float* residual, uint width, uint tid) {
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    float r[kAhead];
    load_ahead<kAhead>((device const float*)(x), first, kRowThreads, width, v);
    load_ahead<kAhead>(residual, first, kRowThreads, width, r);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < width) {
        x[first + j * kRowThreads] = v[j] + r[j];
      }
    }
  }
}

// A thread's share of the sum of squares of a row.
METAL_FUNC float thread_squares(device const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }

// By one simdgroup.
METAL_FUNC float head_scale(device const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint first = lane; first < dim; first += kAhead * 32) {
    float v[kAhead];
    load_ahead<kAhead>(head, first, 32, dim, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      squares = fma(v[j], v[j], squares);
    }
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
