// The part of qk_norm_rope and rope_and_cache for one head: RMS norm if there is a weight, then the rotation.
#pragma once

#include "common.h"

// Reads a head of `dim` floats and leaves it, normalised and rotated, in `head`, by one simdgroup. Afterwards all lanes
// see the whole head, and all reads of `from` are done, so that the caller may write there.
METAL_FUNC void norm_and_rotate(device const float* from, device const float* weight, device const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, threadgroup float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; i < dim; i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; i < half_rotary; i += 32) {
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
