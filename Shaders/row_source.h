// Rows of activations that a matmul normalises or gates as it reads them: the same bits that rms_norm, gated_rms_norm
// and sigmoid_gate would have written, without their launch and without the row going through memory.
#pragma once

#include "args/row_source.h"
#include "norms.h"

constant constexpr uint kRmsNorm = 1;
constant constexpr uint kGatedRmsNorm = 2;
constant constexpr uint kSigmoidGate = 3;
constant constexpr uint kMostHeads = 64;

// Computes scales[row * heads + head] of `rows` rows, by 256 threads; partial: 8 floats per row.
METAL_FUNC void row_scales(device const float* x, long x_stride, constant pagoda_args::RowSource& source, uint rows,
                           threadgroup float* scales, threadgroup float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
#pragma unroll 2  // loads in flight
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
    // Only saves work: a gate without a norm reads no scales.
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

// Four adjacent elements in a head with scale `scale`, from those of x, weight and gate.
METAL_FUNC float4 row_values(float4 v, float4 w, float4 g, constant pagoda_args::RowSource& source, float scale) {
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

// The same with loads. x, weight, gate: at the first element, whose index is a multiple of 4.
METAL_FUNC float4 row_elements(device const float* x, device const float* weight, device const float* gate,
                               constant pagoda_args::RowSource& source, float scale) {
  const float4 v = *(device const float4*)(x);
  float4 w = v;
  float4 g = v;
  // Only saves work: other kinds do not use it.
  if (source.kind != kSigmoidGate) {
    w = *(device const float4*)(weight);
  }
  // Only saves work: other kinds do not use it.
  if (source.kind != kRmsNorm) {
    g = *(device const float4*)(gate);
  }
  return row_values(v, w, g, source, scale);
}

constant constexpr uint kWideRow = 4 * kRowThreads;  // elements that 256 threads read, four each
constant constexpr uint kQuads = 2;  // such loads in flight; more would cost more in code to fetch than they gain

// Elements 4 (tid + 256 j) and the three after each, for all j < 2, zeros from `cols` on, with all loads in flight at
// once. Rows satisfy MatmulRows::is_wide; x and gate: at the row; from: a multiple of 4; out: [kQuads].
METAL_FUNC void row_quads(device const float* x, device const float* weight, device const float* gate,
                          constant pagoda_args::RowSource& source, threadgroup const float* scales, uint from,
                          uint cols, uint tid, thread float4* out) {
  float4 v[kQuads];
  float4 w[kQuads];
  float4 g[kQuads];
  const bool has_weight = source.kind == kRmsNorm || source.kind == kGatedRmsNorm;
#pragma unroll
  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    v[j] = float4(0.0f, 0.0f, 0.0f, 0.0f);
    w[j] = v[j];
    g[j] = v[j];
    if (i < cols) {
      const uint head = source.kind == 0 ? 0 : i / source.dim;
      const uint d = i - head * source.dim;
      v[j] = *(device const float4*)(x + (source.kind == 0 ? long(i) : long(head) * source.x_head_stride + d));
      // Only saves work: other kinds do not use it.
      if (has_weight) {
        w[j] = *(device const float4*)(weight + d);
      }
      // Only saves work: other kinds do not use it.
      if (source.kind > kRmsNorm) {
        g[j] = *(device const float4*)(gate + long(head) * source.gate_head_stride + d);
      }
    }
  }
#pragma unroll
  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    out[j] = v[j];
    if (i < cols && source.kind != 0) {
      // A gate without a norm has no scales.
      out[j] = row_values(v[j], w[j], g[j], source, source.kind == kSigmoidGate ? 1.0f : scales[i / source.dim]);
    }
  }
}
