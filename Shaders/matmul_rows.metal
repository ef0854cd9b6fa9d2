// matmul_rows: activations as the kernels of 16, 8 and 4 bits take them; matmul.h has the layout.
#include "args/matmul.h"
#include "row_source.h"

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows_bf16(device const float* x [[buffer(0)]],
                               device const float* weight [[buffer(1)]],
                               device const float* gate [[buffer(2)]],
                               device bfloat* out [[buffer(3)]],
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
  for (uint i = tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
  if (tid == 0) {
    scales[row] = 1.0f;
  }
}

// The power of two that brings a sum of magnitudes below 2^15 goes to the activations, its inverse to the sums.
METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}

// A row's elements after rotation are no larger than the sum of magnitudes of the row. Grid: [rows]
template <bool ROTATED>
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_rows(device const float* x [[buffer(0)]],
                             device const float* weight [[buffer(1)]],
                             device const float* gate [[buffer(2)]],
                             device half* out [[buffer(3)]],
                             device float* scales [[buffer(4)]],
                             constant pagoda_args::MatmulRows& args [[buffer(5)]],
                             uint row [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[ROTATED ? 4096 : kRowThreads];
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  device half* to = out + long(row) * args.padded_cols;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += kRowThreads) {
    magnitudes += abs(row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i));
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);  // rotated twice: times block
  }
  const uint block = ROTATED ? args.block : kRowThreads;
  for (uint first = 0; first < args.padded_cols; first += block) {
    for (uint i = tid; i < block; i += kRowThreads) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales),
                              first + i) * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, kRowThreads);
    }
    for (uint i = tid; i < block && first + i < args.padded_cols; i += kRowThreads) {
      to[first + i] = half(tile[i]);  // the thread's own elements: the next block may overwrite them
    }
  }
}

template [[host_name("matmul_rows_f16")]] kernel decltype(matmul_rows<false>) matmul_rows<false>;
template [[host_name("matmul_rows_rotated")]] kernel decltype(matmul_rows<true>) matmul_rows<true>;
