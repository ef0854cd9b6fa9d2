// gdn.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 19 "Shaders/gdn.h"
#include "device/gpu/generated/args_gdn.h"
#include "device/gpu/generated/common.h"

MSL_CONSTANT constexpr uint kBlock = 16;
MSL_CONSTANT constexpr uint kPanel = 32;
MSL_CONSTANT constexpr uint kSplit = 8;
MSL_CONSTANT constexpr uint kGroups = 4;
MSL_CONSTANT constexpr float kNormEps = 1.0e-6f;


METAL_FUNC void keep_loads_here() {
# 33 "Shaders/gdn.h"
}

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }


METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}
# 45 "Shaders/gdn.h"
template <uint N, uint P, uint KEEP, uint STRIDE>
METAL_FUNC void fold_to(MSL_THREAD float (&x)[N], uint lane) {
  uint n = N;

  for (uint m = P / 2; m > 0; m /= 2) {
    const uint apart = m * STRIDE;
    if (n > KEEP) {
      n /= 2;
      const uint high = 0u - (lane / apart & 1u);

      for (uint i = 0; i < N / 2; ++i) {

        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(apart));
        }
      }
    } else {

      for (uint i = 0; i < KEEP; ++i) {
        x[i] = x[i] + simd_shuffle_xor(x[i], ushort(apart));
      }
    }
  }
}


template <uint N, uint P>
METAL_FUNC float fold(MSL_THREAD float (&x)[N], uint lane) {
  fold_to<N, P, 1, 1>(x, lane);
  return x[0];
}
# 81 "Shaders/gdn.h"
METAL_FUNC float from_first_half(float v, uint lane) {
# 85 "Shaders/gdn.h"
  return pick(0u - (lane / 4 & 1u), simd_shuffle_xor(v, ushort(4)), v);

}


template <uint N>
METAL_FUNC void load_row(MSL_DEVICE const float* from, uint dk, uint lane, MSL_THREAD float (&x)[N]) {
  load_ahead<N>(from, lane, 32, dk, x);
}

template <uint N>
METAL_FUNC float lane_dot(MSL_THREAD const float (&x)[N], MSL_THREAD const float (&y)[N]) {
  float sum = 0.0f;

  for (uint i = 0; i < N; ++i) {
    sum = fma(x[i], y[i], sum);
  }
  return sum;
}


template <uint N>
METAL_FUNC float inverse_norm(MSL_THREAD const float (&x)[N], uint lane) {
  float sum[1];
  sum[0] = lane_dot<N>(x, x);
  return precise::rsqrt(fold<1, 32>(sum, lane) + kNormEps);
}


METAL_FUNC float next_g(float before, float rate, float x) { return fma(-rate, x, before); }


METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }


METAL_FUNC float begin_row(uint kind, float decay, float y, float v) {
  return kind == 0 ? fma(-decay, y, v) : decay * y;
}


METAL_FUNC uint dim_of(uint part, uint i) { return 4 * (part + kSplit * (i / 4)) + i % 4; }


template <uint PER>
METAL_FUNC void load_part(MSL_THREADGROUP const float* row, uint part, MSL_THREAD float (&x)[PER]) {

  for (uint i = 0; i < PER; i += 4) {
    const float4 f = *(MSL_THREADGROUP const float4*)(row + dim_of(part, i));
    x[i] = f.x;
    x[i + 1] = f.y;
    x[i + 2] = f.z;
    x[i + 3] = f.w;
  }
}


template <uint NC, uint PER>
METAL_FUNC float state_times(MSL_THREAD const float (&s)[NC][PER], MSL_THREAD const float (&k)[PER],
                             MSL_THREAD const float (&q)[PER], uint lane) {
  float x[2 * NC];

  for (uint c = 0; c < NC; ++c) {
    x[c] = s[c][0] * k[0];
    x[NC + c] = s[c][0] * q[0];
  }

  for (uint i = 1; i < PER; ++i) {

    for (uint c = 0; c < NC; ++c) {
      x[c] = fma(s[c][i], k[i], x[c]);
      x[NC + c] = fma(s[c][i], q[i], x[NC + c]);
    }
  }
  return fold<2 * NC, kSplit>(x, lane);
}


template <uint PER>
METAL_FUNC void scale_state(MSL_THREAD float (&s)[PER], float decay) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}

template <uint PER>
METAL_FUNC void add_row(MSL_THREAD float (&s)[PER], MSL_THREAD const float (&k)[PER], float weighted_u) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = fma(k[i], weighted_u, s[i]);
  }
}


template <typename S, uint PER>
METAL_FUNC void load_state(MSL_DEVICE const S* at, uint width, uint dk, uint part, MSL_THREAD float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = float(at[d * width]);
    }
  }
}

template <typename S, uint PER>
METAL_FUNC void store_state(MSL_DEVICE S* at, uint width, uint dk, uint part, MSL_THREAD const float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = S(s[i]);
    }
  }
}


template <typename S, uint PER>
METAL_FUNC void round_state(MSL_THREAD float (&s)[PER]) {

  for (uint i = 0; i < PER; ++i) {
    s[i] = float(S(s[i]));
  }
}


METAL_FUNC float2 load_pair(MSL_DEVICE const float* at) { return *(MSL_DEVICE const float2*)(at); }

METAL_FUNC float2 load_pair(MSL_DEVICE const bfloat* at) {
  const uint both = *(MSL_DEVICE const uint*)(at);
  return float2(as_type<float>(both << 16), as_type<float>(both & 0xffff0000u));
}

METAL_FUNC void store_pair(MSL_DEVICE float* at, float2 pair) { *(MSL_DEVICE float2*)(at) = pair; }

METAL_FUNC void store_pair(MSL_DEVICE bfloat* at, float2 pair) {
  at[0] = bfloat(pair.x);
  at[1] = bfloat(pair.y);
}


METAL_FUNC uint first_block(MSL_DEVICE const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }
# 233 "Shaders/gdn.h"
MSL_CONSTANT constexpr uint kBetas = kBlock;
MSL_CONSTANT constexpr uint kWeights = 2 * kBlock;
MSL_CONSTANT constexpr uint kDecays = 3 * kBlock;
MSL_CONSTANT constexpr uint kCoefficients = 4 * kBlock;
MSL_CONSTANT constexpr uint kGateFloats = 640;
