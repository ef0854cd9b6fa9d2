// matmul_rows: converts activations to the bfloats or halfs that the 16-bit, 8-bit and 4-bit kernels read; matmul.h
// describes the layout.
#include "args/matmul.h"
#include "row_source.h"
#include "wide_tile.h"

// Where element i of a row is.
METAL_FUNC ulong row_index(constant pagoda_args::MatmulRows& args, uint row, uint i) {
  return args.tile_rows != 0 ? tiled_word(args.tile_rows, row, i / 2) * 2 + i % 2 : ulong(row) * args.padded_cols + i;
}

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows_bf16(device const float* x [[buffer(0)]],
                               device const float* weight [[buffer(1)]],
                               device const float* gate [[buffer(2)]],
                               device bfloat* out [[buffer(3)]],
                               constant pagoda_args::MatmulRows& args [[buffer(4)]],
                               uint row [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]],
                               uint sg [[simdgroup_index_in_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  // Only saves work: four elements at a time.
  if (args.is_wide != 0) {
    for (uint first = 0; first < args.cols; first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), first, args.cols, tid, v);
      #pragma unroll
      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        if (i < args.cols) {
          const uint2 words = uint2(pack_bfloat(v[j].x, v[j].y), pack_bfloat(v[j].z, v[j].w));
          if (args.tile_rows != 0) {
            device uint* tiled = (device uint*)(out);
            tiled[tiled_word(args.tile_rows, row, i / 2)] = words.x;
            tiled[tiled_word(args.tile_rows, row, i / 2 + 1)] = words.y;
          } else {
            *(device uint2*)(out + long(row) * args.padded_cols + i) = words;
          }
        }
      }
    }
  }
  for (uint i = args.is_wide != 0 ? args.padded_cols : tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    out[row_index(args, row, i)] = bfloat(value);
  }
}

// The power of two that brings a sum of magnitudes below 2^15: activations are multiplied by it, sums by its inverse.
METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}

// Halfs: no element of a row exceeds the sum of the row's magnitudes. Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows_f16(device const float* x [[buffer(0)]],
                            device const float* weight [[buffer(1)]],
                            device const float* gate [[buffer(2)]],
                            device half* out [[buffer(3)]],
                            device float* scales [[buffer(4)]],
                            constant pagoda_args::MatmulRows& args [[buffer(5)]],
                            uint row [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true);
  }
  for (uint i = tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    out[row_index(args, row, i)] = half(value * scale);
  }
}
