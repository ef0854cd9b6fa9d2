// common.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 12 "Shaders/common.h"
MSL_CONSTANT constexpr float kNegBig = -1.0e30f;
# 16 "Shaders/common.h"
METAL_FUNC void wait_for_inputs() {
# 20 "Shaders/common.h"
}

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {

  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}
# 43 "Shaders/common.h"
METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < num_simdgroups); ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}


METAL_FUNC uint first_tile(MSL_DEVICE const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}


METAL_FUNC float shifted_byte(uint byte, uint shift) {
  return (byte < 128 ? float(byte) : -float(byte - 128)) * as_type<float>((127u - shift) << 23);
}

METAL_FUNC float stepped_nibble(uint nibble, uint step, uint offset) {
  return float(int(step * nibble + offset) - 128);
}


template <typename T>
METAL_FUNC void pair_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8>& sum0,
                                         MSL_THREAD simdgroup_matrix<float, 8, 8>& sum1,
                                         MSL_THREAD simdgroup_matrix<T, 8, 8>& a0, MSL_THREAD simdgroup_matrix<T, 8, 8>& a1,
                                         MSL_THREAD simdgroup_matrix<T, 8, 8>& b) {
# 109 "Shaders/common.h"
  simdgroup_multiply_accumulate(sum0, a0, b, sum0);
  simdgroup_multiply_accumulate(sum1, a1, b, sum1);

}
