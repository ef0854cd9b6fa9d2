// Rows of activations that a matmul normalises or gates as it reads them: the same bits as rms_norm, gated_rms_norm and
// sigmoid_gate would have written, without their launch and without the row going through memory.
#pragma once

#include "args/row_source.h"
#include "norms.h"

constant constexpr uint kRmsNorm = 1;
constant constexpr uint kGatedRmsNorm = 2;
constant constexpr uint kSigmoidGate = 3;
constant constexpr uint kMostHeads = 64;

// scales[row * heads + head] of `rows` rows, by 256 threads; partial: 8 floats a row.
METAL_FUNC void row_scales(device const float* x, long x_stride, constant pagoda_args::RowSource& source, uint rows,
                           threadgroup float* scales, threadgroup float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; r < rows; ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; i < kRowSimdgroups; ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {
    // Only saves work: a gate alone reads no scales.
    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; i < rows * source.heads; i += kRowSimdgroups) {
        device const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Element `column` of a row. x and gate: at the row; scales: of the row.
METAL_FUNC float row_element(device const float* x, device const float* weight, device const float* gate,
                             constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}

// The same of four neighbours, the first at a multiple of 4.
METAL_FUNC float4 row_elements(device const float* x, device const float* weight, device const float* gate,
                               constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(device const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(device const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(device const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(device const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
