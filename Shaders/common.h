// Helpers shared by several kernels: sums in a fixed order, the nonlinear functions, tiles, sequences.
// Written in the portable subset: Metal and CUDA compile it unchanged, mslc translates it for the CPU. No fast math.
#pragma once

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite substitute for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

// A launch may start while earlier ones still run, and waits here: before this call it reads nothing that another
// launch writes. Kernels that do not call it wait at their start.
METAL_FUNC void wait_for_inputs() {
#ifdef __MSL_PAIRED_MMA__
  msl_wait_for_inputs();
#endif
}

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

// Elements first, first + stride, ..., with all loads in flight at once; 0 from `end` on.
template <uint N>
METAL_FUNC void load_ahead(device const float* from, uint first, uint stride, uint end, thread float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}

// The sum of v over all threads of the threadgroup, in a fixed order: lanes by butterfly, then simdgroups by index.
// `partial` has one element per simdgroup; it may be reused after the caller's next barrier.
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}

// The sequence that contains `row`.
METAL_FUNC uint sequence_of_row(device const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// The first tile of the grid that holds rows of sequence b: no two sequences share one.
METAL_FUNC uint first_tile(device const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(device const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// The number that eight or four bits of a quantised row represent, before the row's scale.
METAL_FUNC float shifted_byte(uint byte, uint shift) {
  return (byte < 128 ? float(byte) : -float(byte - 128)) * as_type<float>((127u - shift) << 23);
}

METAL_FUNC float stepped_nibble(uint nibble, uint step, uint offset) {
  return float(int(step * nibble + offset) - 128);
}

// sum0 += a0 * b, sum1 += a1 * b over 8x8 tiles: on NVIDIA one product, whose smallest tile is 16x8.
template <typename T>
METAL_FUNC void pair_multiply_accumulate(thread simdgroup_matrix<float, 8, 8>& sum0,
                                         thread simdgroup_matrix<float, 8, 8>& sum1,
                                         thread simdgroup_matrix<T, 8, 8>& a0, thread simdgroup_matrix<T, 8, 8>& a1,
                                         thread simdgroup_matrix<T, 8, 8>& b) {
#ifdef __MSL_PAIRED_MMA__
  msl_multiply_accumulate_pair(sum0, sum1, a0, a1, b);
#else
  simdgroup_multiply_accumulate(sum0, a0, b, sum0);
  simdgroup_multiply_accumulate(sum1, a1, b, sum1);
#endif
}
