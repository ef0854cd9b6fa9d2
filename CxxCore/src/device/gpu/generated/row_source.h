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

    for (uint r = 0; r < rows; ++r) {
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


METAL_FUNC float4 row_values(float4 v, float4 w, float4 g, MSL_CONSTANT pagoda_args::RowSource& source, float scale) {
  if (source.kind == kRmsNorm) {
    return float4(normed(v.x, scale, w.x, source.weight_offset), normed(v.y, scale, w.y, source.weight_offset),
                  normed(v.z, scale, w.z, source.weight_offset), normed(v.w, scale, w.w, source.weight_offset));
  }
  if (source.kind == kGatedRmsNorm) {
    return float4(gated_normed(v.x, scale, w.x, g.x), gated_normed(v.y, scale, w.y, g.y),
                  gated_normed(v.z, scale, w.z, g.z), gated_normed(v.w, scale, w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}


METAL_FUNC float4 row_elements(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                               MSL_CONSTANT pagoda_args::RowSource& source, float scale) {
  const float4 v = *(MSL_DEVICE const float4*)(x);
  float4 w = v;
  float4 g = v;

  if (source.kind != kSigmoidGate) {
    w = *(MSL_DEVICE const float4*)(weight);
  }

  if (source.kind != kRmsNorm) {
    g = *(MSL_DEVICE const float4*)(gate);
  }
  return row_values(v, w, g, source, scale);
}

MSL_CONSTANT constexpr uint kWideRow = 4 * kRowThreads;
MSL_CONSTANT constexpr uint kQuads = 2;
# 99 "Shaders/row_source.h"
METAL_FUNC void row_quads(MSL_DEVICE const float* x, MSL_DEVICE const float* weight, MSL_DEVICE const float* gate,
                          MSL_CONSTANT pagoda_args::RowSource& source, MSL_THREADGROUP const float* scales, uint from,
                          uint cols, uint tid, MSL_THREAD float4* out) {
  float4 v[kQuads];
  float4 w[kQuads];
  float4 g[kQuads];
  const bool has_weight = source.kind == kRmsNorm || source.kind == kGatedRmsNorm;

  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    v[j] = float4(0.0f, 0.0f, 0.0f, 0.0f);
    w[j] = v[j];
    g[j] = v[j];
    if (i < cols) {
      const uint head = source.kind == 0 ? 0 : i / source.dim;
      const uint d = i - head * source.dim;
      v[j] = *(MSL_DEVICE const float4*)(x + (source.kind == 0 ? long(i) : long(head) * source.x_head_stride + d));

      if (has_weight) {
        w[j] = *(MSL_DEVICE const float4*)(weight + d);
      }

      if (source.kind > kRmsNorm) {
        g[j] = *(MSL_DEVICE const float4*)(gate + long(head) * source.gate_head_stride + d);
      }
    }
  }

  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    out[j] = v[j];
    if (i < cols && source.kind != 0) {

      out[j] = row_values(v[j], w[j], g[j], source, source.kind == kSigmoidGate ? 1.0f : scales[i / source.dim]);
    }
  }
}
