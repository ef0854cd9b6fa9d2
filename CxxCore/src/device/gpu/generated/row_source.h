// row_source.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 5 "Shaders/row_source.h"
#include "device/gpu/generated/args_row_source.h"
#include "device/gpu/generated/norms.h"

MSL_CONSTANT constexpr uint kRmsNorm = 1;
MSL_CONSTANT constexpr uint kGatedRmsNorm = 2;
MSL_CONSTANT constexpr uint kSigmoidGate = 3;
MSL_CONSTANT constexpr uint kMostHeads = 64;


METAL_FUNC void row_scales(MSL_DEVICE const float* x, long x_stride, MSL_CONSTANT pagoda_args::RowSource& source, uint rows,
                           MSL_THREADGROUP float* scales, MSL_THREADGROUP float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
    for (uint r = 0; MSL_LOOP(r < rows); ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; MSL_LOOP(i < kRowSimdgroups); ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {

    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; MSL_LOOP(i < rows * source.heads); i += kRowSimdgroups) {
        MSL_DEVICE const float* head =
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


METAL_FUNC float row_element(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                             MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
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


METAL_FUNC float4 row_elements(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                               MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint column) {
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float4 v = *(MSL_DEVICE const float4*)(x + long(head) * source.x_head_stride + d);
  if (source.kind == kRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(
        normed(v.x, scales[head], w.x, source.weight_offset), normed(v.y, scales[head], w.y, source.weight_offset),
        normed(v.z, scales[head], w.z, source.weight_offset), normed(v.w, scales[head], w.w, source.weight_offset));
  }
  const float4 g = *(MSL_DEVICE const float4*)(gate + long(head) * source.gate_head_stride + d);
  if (source.kind == kGatedRmsNorm) {
    const float4 w = *(MSL_DEVICE const float4*)(weight + d);
    return float4(gated_normed(v.x, scales[head], w.x, g.x), gated_normed(v.y, scales[head], w.y, g.y),
                  gated_normed(v.z, scales[head], w.z, g.z), gated_normed(v.w, scales[head], w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
