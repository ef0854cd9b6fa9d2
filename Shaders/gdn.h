// gdn: the gated delta rule, anchored at blocks of 16 tokens. The state S is the one at the last block boundary; a
// token since then is a row (k, u, G), G being the sum of log decays inside the block. For row t, s over rows before:
//   u_t = beta_t (v_t - e^(G_t) S^T k_t - sum_s e^(G_t - G_s) (k_s . k_t) u_s)
//   o_t = e^(G_t) S^T q_t + sum_{s <= t} e^(G_t - G_s) (k_s . q_t) u_s
// and after row 15, S := e^G S + sum_s e^(G - G_s) k_s u_s^T.
//
// gdn_decode takes the sequences with one token, gdn_prepare and gdn_prefill (in that order) those with more. A row
// gets the same bits from either, alone or among others: S^T x is summed over d in four quarters, each in order, then
// the quarters in order; rows are added in order of s. simdgroup matrices are not used: the order inside one is not
// known.
//
// A threadgroup has one panel of 32 columns of one V-head, a lane one column, a simdgroup one quarter of d.
// state: [slots, v_heads] of panels [dk][up to 32]; k_rows: [slots, k_heads, 16, dk]; u_rows: [slots, v_heads, 16, dv];
// g_rows: [slots, v_heads, 16]
#pragma once

#include "args/gdn.h"
#include "common.h"

constant constexpr uint kBlock = 16;  // tokens; part of the result's bits
constant constexpr uint kPanel = 32;
constant constexpr uint kQuarters = 4;
constant constexpr float kNormEps = 1.0e-6f;

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }

// x . y over d, by one simdgroup: lanes take every 32nd dim.
METAL_FUNC float lane_dot(device const float* x, device const float* y, uint dk, uint lane) {
  float sum = 0.0f;
  for (uint d = lane; d < dk; d += 32) {
    sum = fma(x[d], y[d], sum);
  }
  return simd_sum(sum);
}

// 1 / |x|
METAL_FUNC float inverse_norm(device const float* x, uint dk, uint lane) {
  return precise::rsqrt(lane_dot(x, x, dk, lane) + kNormEps);
}

// G_t from G_(t-1), of V-head `head`.
METAL_FUNC float next_g(float before, device const float* a, device const float* a_log, device const float* dt_bias,
                        uint head) {
  return fma(-precise::exp(a_log[head]), softplus(a[head] + dt_bias[head]), before);
}

// What row t takes from u_s, s < t, for its own u; and s <= t for its output.
METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }

// A lane's quarter of a column of S. at: the column's first element; width: columns of the panel.
template <uint PER>
METAL_FUNC void load_state(device const float* at, uint width, uint d0, uint count, thread float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = 0.0f;
    if (i < count) {
      s[i] = at[(d0 + i) * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(device float* at, uint width, uint d0, uint count, thread const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    if (i < count) {
      at[(d0 + i) * width] = s[i];
    }
  }
}

// S := decay S + sum_s k_s (weight_s u_s)^T is scale_state, then add_row for each row in order.
template <uint PER>
METAL_FUNC void scale_state(thread float (&s)[PER], float decay) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}

// k: the row's quarter
template <uint PER>
METAL_FUNC void add_row(thread float (&s)[PER], device const float* k, uint count, float weighted_u) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    // Only saves work: s beyond count is neither summed nor stored, and k is followed by the block's queries.
    if (i < count) {
      s[i] = fma(k[i], weighted_u, s[i]);
    }
  }
}

METAL_FUNC float sum_quarters(threadgroup const float* parts, uint stride) {
  return ((parts[0] + parts[stride]) + parts[2 * stride]) + parts[3 * stride];
}

// Blocks of all sequences are numbered with gaps: sequence b's first one is cu_seqlens[b] / 16 + 2 b.
METAL_FUNC uint first_block(device const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }

// What a block and V-head have without S: G, beta, e^(G_15 - G_s); then the coefficients [s][t] of u, and of o.
constant constexpr uint kGates = 3 * kBlock;
constant constexpr uint kGateFloats = kGates + 2 * kBlock * kBlock;
