// rope.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/rope.h"
#include "device/gpu/generated/common.h"
# 8 "Shaders/rope.h"
METAL_FUNC void norm_and_rotate(MSL_DEVICE const float* from, MSL_DEVICE const float* weight, MSL_DEVICE const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, MSL_THREADGROUP float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; MSL_LOOP(i < dim); i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; MSL_LOOP(i < dim); i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; MSL_LOOP(i < half_rotary); i += 32) {
    const float angle = float(position) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + half_rotary];
    head[i] = a * c - b * s;
    head[i + half_rotary] = b * c + a * s;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
