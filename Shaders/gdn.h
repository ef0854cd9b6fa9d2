// gdn: the gated delta rule, anchored at blocks of 16 tokens. The state S is the one at the last block boundary; a
// token since then is a row (k, u, G), where G is the sum of log decays inside the block. For row t, with s over the
// rows before:
// u_t = beta_t (v_t - e^(G_t) S^T k_t - sum_s e^(G_t - G_s) (k_s . k_t) u_s)
// o_t = e^(G_t) S^T q_t + sum_{s <= t} e^(G_t - G_s) (k_s . q_t) u_s
// and after row 15, S := e^G S + sum_s e^(G - G_s) k_s u_s^T.
//
// gdn_decode handles sequences with one token, gdn_prepare and gdn_prefill (in that order) those with more. A row gets
// the same bits from either, alone or with others: S^T x is summed by 8 lanes, each over its own d in order, then lanes
// are paired 4, 2 and 1 apart; dots of rows by 32 lanes, paired 16, 8, 4, 2 and 1 apart; rows are added in order of s.
// simdgroup matrices are not used, because their internal order is unknown.
//
// 8 lanes share a column of S, adjacent ones or, in gdn_prefill, lanes four apart: lane `part` of them has the dims
// 4 (part + 8 i) .. + 3 for all i. In gdn_decode the lower four keep S^T k (kind 0) and the upper four S^T q (1).
// state: [slots, v_heads] of panels [dk][up to 32], of floats or bfloats (S); k_rows: [slots, k_heads, 16, dk]; u_rows:
// [slots, v_heads, 16, dv]; g_rows: [slots, v_heads, 16]
#pragma once

#include "args/gdn.h"
#include "common.h"

constant constexpr uint kBlock = 16;  // tokens; affects result bits
constant constexpr uint kPanel = 32;
constant constexpr uint kSplit = 8;   // lanes that share a column; affects result bits
constant constexpr uint kGroups = 4;  // simdgroups per threadgroup
constant constexpr float kNormEps = 1.0e-6f;

// Keeps the compiler from hoisting later loads above this point, where all of them together take too many registers.
METAL_FUNC void keep_loads_here() {
#ifdef __MSL_PAIRED_MMA__
  msl_keep_loads_here();
#endif
}

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }

// a where mask is all ones, b where it is zero: without a branch, which would duplicate the shuffles after it.
METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}

// Sums x[i] over the P lanes of a group, which are STRIDE apart, pairing lanes P/2 places apart, then P/4, down to 1:
// the same bits for every N and KEEP. Half of the sums go to each lane of a pair until KEEP are left, then all to both:
// lane p of a group ends up with the sums of x[j KEEP] .. of its j-th part of them, in x[0 .. KEEP - 1].
template <uint N, uint P, uint KEEP, uint STRIDE>
METAL_FUNC void fold_to(thread float (&x)[N], uint lane) {
  uint n = N;
#pragma unroll
  for (uint m = P / 2; m > 0; m /= 2) {
    const uint apart = m * STRIDE;
    if (n > KEEP) {
      n /= 2;
      const uint high = 0u - (lane / apart & 1u);
#pragma unroll
      for (uint i = 0; i < N / 2; ++i) {
        // Only saves work: results of the others are not read.
        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(apart));
        }
      }
    } else {
#pragma unroll
      for (uint i = 0; i < KEEP; ++i) {
        x[i] = x[i] + simd_shuffle_xor(x[i], ushort(apart));
      }
    }
  }
}

// Adjacent lanes, one sum each: lane p of a group ends up with the sum of x[p / (P / N)].
template <uint N, uint P>
METAL_FUNC float fold(thread float (&x)[N], uint lane) {
  fold_to<N, P, 1, 1>(x, lane);
  return x[0];
}

// v of the lane without the bit of 4: the value that a fold by 8 lanes leaves in the first half of every eight. Apple's
// GPUs shuffle by xor in 2 cycles, otherwise in 28; NVIDIA's take as long for both.
METAL_FUNC float from_first_half(float v, uint lane) {
#ifdef __MSL_PAIRED_MMA__
  return simd_shuffle(v, ushort(lane & ~4u));
#else
  return pick(0u - (lane / 4 & 1u), simd_shuffle_xor(v, ushort(4)), v);
#endif
}

// A lane's elements lane, lane + 32, ... of a row of dk floats.
template <uint N>
METAL_FUNC void load_row(device const float* from, uint dk, uint lane, thread float (&x)[N]) {
  load_ahead<N>(from, lane, 32, dk, x);
}

template <uint N>
METAL_FUNC float lane_dot(thread const float (&x)[N], thread const float (&y)[N]) {
  float sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < N; ++i) {
    sum = fma(x[i], y[i], sum);
  }
  return sum;
}

// 1 / |x|
template <uint N>
METAL_FUNC float inverse_norm(thread const float (&x)[N], uint lane) {
  float sum[1];
  sum[0] = lane_dot<N>(x, x);
  return precise::rsqrt(fold<1, 32>(sum, lane) + kNormEps);
}

// G_t from G_(t-1); rate = e^(a_log), x = softplus(a + dt_bias)
METAL_FUNC float next_g(float before, float rate, float x) { return fma(-rate, x, before); }

// Coefficients of row t on u_s: s < t for its own u, s <= t for its output.
METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }

// u (kind 0) or o (kind 1) of a row before the rows of its block are added; y: S^T k or S^T q
METAL_FUNC float begin_row(uint kind, float decay, float y, float v) {
  return kind == 0 ? fma(-decay, y, v) : decay * y;
}

// The dim of a lane's element i.
METAL_FUNC uint dim_of(uint part, uint i) { return 4 * (part + kSplit * (i / 4)) + i % 4; }

// A lane's part of a row in threadgroup memory.
template <uint PER>
METAL_FUNC void load_part(threadgroup const float* row, uint part, thread float (&x)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; i += 4) {
    const float4 f = *(threadgroup const float4*)(row + dim_of(part, i));
    x[i] = f.x;
    x[i + 1] = f.y;
    x[i + 2] = f.z;
    x[i + 3] = f.w;
  }
}

// S^T k and S^T q of NC columns: lane `part` ends up with column c of k or q, kind NC + c = part / (8 / (2 NC)).
template <uint NC, uint PER>
METAL_FUNC float state_times(thread const float (&s)[NC][PER], thread const float (&k)[PER],
                             thread const float (&q)[PER], uint lane) {
  float x[2 * NC];
#pragma unroll
  for (uint c = 0; c < NC; ++c) {
    x[c] = s[c][0] * k[0];
    x[NC + c] = s[c][0] * q[0];
  }
#pragma unroll
  for (uint i = 1; i < PER; ++i) {
#pragma unroll
    for (uint c = 0; c < NC; ++c) {
      x[c] = fma(s[c][i], k[i], x[c]);
      x[NC + c] = fma(s[c][i], q[i], x[NC + c]);
    }
  }
  return fold<2 * NC, kSplit>(x, lane);
}

// S := decay S + sum_s k_s (weight_s u_s)^T is scale_state, then add_row for each row in order.
template <uint PER>
METAL_FUNC void scale_state(thread float (&s)[PER], float decay) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}

template <uint PER>
METAL_FUNC void add_row(thread float (&s)[PER], thread const float (&k)[PER], float weighted_u) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = fma(k[i], weighted_u, s[i]);
  }
}

// A lane's part of a column of S, zero beyond dk. at: the column's first element; width: columns of the panel.
template <typename S, uint PER>
METAL_FUNC void load_state(device const S* at, uint width, uint dk, uint part, thread float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = float(at[d * width]);
    }
  }
}

template <typename S, uint PER>
METAL_FUNC void store_state(device S* at, uint width, uint dk, uint part, thread const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = S(s[i]);
    }
  }
}

// What load_state would read after store_state: a state is rounded wherever a block ends.
template <typename S, uint PER>
METAL_FUNC void round_state(thread float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = float(S(s[i]));
  }
}

// Two adjacent columns of S, aligned to both.
METAL_FUNC float2 load_pair(device const float* at) { return *(device const float2*)(at); }

METAL_FUNC float2 load_pair(device const bfloat* at) {
  const uint both = *(device const uint*)(at);
  return float2(as_type<float>(both << 16), as_type<float>(both & 0xffff0000u));
}

METAL_FUNC void store_pair(device float* at, float2 pair) { *(device float2*)(at) = pair; }

METAL_FUNC void store_pair(device bfloat* at, float2 pair) {
  at[0] = bfloat(pair.x);
  at[1] = bfloat(pair.y);
}

// Block numbers of all sequences have gaps: the first block of sequence b is cu_seqlens[b] / 16 + 2 b.
METAL_FUNC uint first_block(device const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }

// Values of a block and V-head that do not need S: G, beta, e^(G_15 - G_s), e^G; then the coefficients [s][t] of u and
// those of o; then padding, so that each of 128 threads has the same number of them.
constant constexpr uint kBetas = kBlock;
constant constexpr uint kWeights = 2 * kBlock;
constant constexpr uint kDecays = 3 * kBlock;
constant constexpr uint kCoefficients = 4 * kBlock;
constant constexpr uint kGateFloats = 640;
