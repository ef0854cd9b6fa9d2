// matmul_rows: activations as the kernels of 16, 8 and 4 bits take them; matmul.h has the layout.
#include "args/matmul.h"
#include "row_source.h"
#include "tiles.h"

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
  // Only saves work: four elements at a time.
  if (args.is_wide != 0) {
    for (uint first = 0; first < args.cols; first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), first, args.cols, tid, v);
      #pragma unroll
      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        if (i < args.cols) {
          *(device uint2*)(out + long(row) * args.padded_cols + i) =
              uint2(pack_bfloat(v[j].x, v[j].y), pack_bfloat(v[j].z, v[j].w));
        }
      }
    }
  }
  for (uint i = args.is_wide != 0 ? args.padded_cols : tid; i < args.padded_cols; i += kRowThreads) {
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

constant constexpr uint kRotated = 4096;  // columns that fit threadgroup memory; no block is larger
constant constexpr uint kOwn = 8;         // neighbours that a thread has in registers

// Each block of the tile times `scale`, then times the Hadamard matrix: additions in the order of strides 1, 2, 4, ...,
// as in rotate(). A block has 8 elements or more. Strides of up to 128 are in registers and between lanes; in those above,
// a thread has elements tid, tid + 256, ... alone. All 256 threads call it, and may read those elements when it returns.
METAL_FUNC void rotate_blocks(threadgroup float* tile, uint size, uint block, float scale, uint tid, uint lane) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint first = 0; first < size; first += kOwn * kRowThreads) {
    const uint at = first + kOwn * tid;
    float v[kOwn];
#pragma unroll
    for (uint i = 0; i < kOwn; ++i) {
      v[i] = 0.0f;
      if (at + i < size) {
        v[i] = tile[at + i] * scale;
      }
    }
#pragma unroll
    for (uint stride = 1; stride < kOwn; stride *= 2) {
#pragma unroll
      for (uint i = 0; i < kOwn; ++i) {
        if ((i & stride) == 0) {
          const float a = v[i];
          const float b = v[i + stride];
          v[i] = a + b;
          v[i + stride] = a - b;
        }
      }
    }
    const uint lanes = block < 32 * kOwn ? block / kOwn : 32;
#pragma unroll 1  // a launch runs once through its code: the less there is to fetch, the sooner it ends
    for (uint apart = 1; apart < lanes; apart *= 2) {
      const float sign = (lane & apart) == 0 ? 1.0f : -1.0f;
#pragma unroll
      for (uint i = 0; i < kOwn; ++i) {
        v[i] = fma(v[i], sign, simd_shuffle_xor(v[i], ushort(apart)));
      }
    }
#pragma unroll
    for (uint i = 0; i < kOwn; ++i) {
      // Only saves work: what is beyond is not read.
      if (at + i < size) {
        tile[at + i] = v[i];
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 32 * kOwn; stride < block; stride *= 2) {
    for (uint i = tid; i < size / 2; i += kRowThreads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
  }
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
  threadgroup float tile[ROTATED ? kRotated : kRowThreads];
  threadgroup float head_scales[kMostHeads];
  threadgroup float parts[kRowSimdgroups];
  device const float* from = x + long(row) * args.x_stride;
  device const float* from_gate = gate + long(row) * args.source.gate_stride;
  device half* to = out + long(row) * args.padded_cols;
  row_scales(from, args.x_stride, args.source, 1, head_scales, parts, tid, sg, lane);
  const uint block = ROTATED ? args.block : kRowThreads;
  const uint span = ROTATED ? kRotated / block * block : block;  // columns at once: whole blocks
  const bool is_whole = args.padded_cols <= span;                // then the tile keeps the row
  const bool is_quick = ROTATED && is_whole && args.is_wide != 0;
  float magnitudes = 0.0f;
  // Only saves work: four elements at a time.
  if (is_quick) {
    for (uint first = 0; first < args.cols; first += kQuads * kWideRow) {
      float4 v[kQuads];
      row_quads(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), first, args.cols, tid, v);
      #pragma unroll
      for (uint j = 0; j < kQuads; ++j) {
        const uint i = first + 4 * tid + kWideRow * j;
        // Only saves work: beyond the row are zeros, which are not read.
        if (i < args.cols) {
          *(threadgroup float4*)(tile + i) = v[j];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < args.cols; i += kRowThreads) {
      magnitudes += abs(tile[i]);
    }
  }
  for (uint i = is_quick ? args.padded_cols : tid; i < args.padded_cols; i += kRowThreads) {
    float value = 0.0f;
    if (i < args.cols) {
      value = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), i);
    }
    magnitudes += abs(value);
    if (is_whole) {
      tile[i] = value;
    }
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, kRowSimdgroups);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);  // rotated twice: times block
  }
  for (uint first = 0; first < args.padded_cols; first += span) {
    for (uint i = tid; i < span && !is_whole; i += kRowThreads) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = row_element(from, weight, from_gate, args.source, (threadgroup const float*)(head_scales), first + i);
      }
    }
    if (ROTATED) {
      rotate_blocks(tile, min(span, args.padded_cols - first), block, scale, tid, lane);
    }
    for (uint i = tid; i < span && first + i < args.padded_cols; i += kRowThreads) {
      to[first + i] = half(ROTATED ? tile[i] : tile[i] * scale);  // the thread's own: the next span may overwrite them
    }
  }
}

template [[host_name("matmul_rows_f16")]] kernel decltype(matmul_rows<false>) matmul_rows<false>;
template [[host_name("matmul_rows_rotated")]] kernel decltype(matmul_rows<true>) matmul_rows<true>;
