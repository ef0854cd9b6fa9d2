// The text of kda.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource kda_source() noexcept {
  return {"kda",
R"msl(#pragma METAL fp contract(off)
// kda: the gated delta rule with a decay for each channel of a key, anchored at blocks of 16 tokens as gdn.h has it. With
// D_(s,t) the product of the decays of rows s + 1 to t, and D_t that of rows 0 to t:
//   u_t = beta_t (v_t - S^T (D_t k_t) - sum_s (D_(s,t) k_s . k_t) u_s)
//   o_t = S^T (D_t q_t) + sum_{s <= t} (D_(s,t) k_s . q_t) u_s
// and after row 15, S := D_15 S + sum_s (D_(s,15) k_s) u_s^T. Products grow from row t backwards, so that none exceeds 1.
// S^T x is summed by 4 simdgroups, each over its own d in order, then in their order.
// Arguments of kda.metal, shared by the kernel and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct Kda {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long a_stride, a_head_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;  // dense within a slot
  uint dk, dv;                                                                         // dk at most 256
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Kda) == 136, "host and kernel agree");

}  // namespace pagoda_args
// gdn: the gated delta rule, anchored at blocks of 16 tokens. The state S is the one at the last block boundary; a
// token since then is a row (k, u, G), G being the sum of log decays inside the block. For row t, s over rows before:
//   u_t = beta_t (v_t - e^(G_t) S^T k_t - sum_s e^(G_t - G_s) (k_s . k_t) u_s)
//   o_t = e^(G_t) S^T q_t + sum_{s <= t} e^(G_t - G_s) (k_s . q_t) u_s
// and after row 15, S := e^G S + sum_s e^(G - G_s) k_s u_s^T.
//
// gdn_decode takes the sequences with one token, gdn_prepare and gdn_prefill (in that order) those with more. A row
// gets the same bits from either, alone or among others: S^T x is summed by 8 lanes, each over its own d in order, then
// lanes are paired 4, 2 and 1 apart; dots of rows by 32 lanes, paired 16, 8, 4, 2 and 1 apart; rows are added in order
// of s. simdgroup matrices are not used: the order inside one is not known.
//
// 8 neighbouring lanes have a column of S, lane `part` of them the dims 4 (part + 8 i) .. + 3 for all i. Sums of two
// kinds, S^T k (0) and S^T q (1), are kept by the lower and the upper four of the lanes.
// state: [slots, v_heads] of panels [dk][up to 32]; k_rows: [slots, k_heads, 16, dk]; u_rows: [slots, v_heads, 16, dv];
// g_rows: [slots, v_heads, 16]

// Arguments of gdn_*.metal, shared by the kernels and the host.

// Arguments of causal_conv1d.metal, shared by the kernels and the host.


namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;  // elements from one row to the next
  long tail_slot_stride, tail_row_stride;    // elements
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}  // namespace pagoda_args

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;  // dense within a slot
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;   // at most 256 each
  uint is_wide;  // dk is 128 or 256, dv full panels, and state and k_rows lie so that vectors fit
  float q_scale;
  uint reserved;
  // gdn_decode_conv_*: the convolution that makes q, k and v, and the channels of their first heads.
  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");

}  // namespace pagoda_args
// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite substitute for minus infinity.
constant constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));  // never overflows
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }

// Elements first, first + stride, ..., all in flight at once; 0 from `end` on.
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

// The sum of v over all threads of the threadgroup, in one order: lanes by butterfly, then simdgroups by index.
// `partial` has an element for each simdgroup; it may be used again after the caller's next barrier.
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

// The sequence whose rows hold `row`.
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

// Multiplies tile[0 .. block) with the Hadamard matrix, in place: additions in the order of strides 1, 2, 4, ...
// All threads of the threadgroup call it; the tile is complete and visible to all when it returns.
METAL_FUNC void rotate(threadgroup float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// The number that eight or four bits of a quantised row stand for, before the row's scale.
METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}

// acc[i][j] += a[i] * b[j] over 8x8 tiles.
template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(thread simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         thread simdgroup_matrix<T, 8, 8> (&a)[R],
                                         thread simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's smallest tile is 16x8: two of ours side by side.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
#endif
  }
}

constant constexpr uint kBlock = 16;  // tokens; part of the result's bits
constant constexpr uint kPanel = 32;
constant constexpr uint kSplit = 8;   // lanes that share a column; part of the result's bits
constant constexpr uint kGroups = 4;  // simdgroups of a threadgroup
constant constexpr float kNormEps = 1.0e-6f;

// Keeps a compiler from moving loads of what follows to before it, where all of them at once take too many registers.
METAL_FUNC void keep_loads_here() {
#ifdef __MSL_PAIRED_MMA__
  msl_keep_loads_here();
#endif
}

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }

// a where mask is all ones, b where it is zero: no branch, which would have its own copy of the shuffles after it.
METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}

// Sums x[i] over aligned groups of P lanes, pairing lanes P/2 apart, then P/4, down to 1: the same bits for every N.
// Lane p of a group is left with the sum of x[p / (P / N)].
template <uint N, uint P>
METAL_FUNC float fold(thread float (&x)[N], uint lane) {
  uint n = N;
#pragma unroll
  for (uint m = P / 2; m > 0; m /= 2) {
    if (n > 1) {
      n /= 2;
      const uint high = 0u - (lane / m & 1u);
#pragma unroll
      for (uint i = 0; i < N / 2; ++i) {
        // Only saves work: what is made of the others is not read.
        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(m));
        }
      }
    } else {
      x[0] = x[0] + simd_shuffle_xor(x[0], ushort(m));
    }
  }
  return x[0];
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

// u (kind 0) or o (kind 1) of a row before the rows of its block; y: S^T k or S^T q
METAL_FUNC float begin_row(uint kind, float decay, float y, float v) {
  return kind == 0 ? fma(-decay, y, v) : decay * y;
}

// The dim of a lane's element i.
METAL_FUNC uint dim_of(uint part, uint i) { return 4 * (part + kSplit * (i / 4)) + i % 4; }

// A lane's part of a row of threadgroup memory.
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

// S^T k and S^T q of NC columns: lane `part` is left with column c of k or q, kind NC + c = part / (8 / (2 NC)).
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

)msl"
R"msl(// S := decay S + sum_s k_s (weight_s u_s)^T is scale_state, then add_row for each row in order.
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
template <uint PER>
METAL_FUNC void load_state(device const float* at, uint width, uint dk, uint part, thread float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = at[d * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(device float* at, uint width, uint dk, uint part, thread const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = s[i];
    }
  }
}

// Blocks of all sequences are numbered with gaps: sequence b's first one is cu_seqlens[b] / 16 + 2 b.
METAL_FUNC uint first_block(device const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }

// Values of a block and V-head that need no S: G, beta, e^(G_15 - G_s), e^G; then the coefficients [s][t] of u, and of
// o; then nothing, so that 128 threads have the same number each.
constant constexpr uint kBetas = kBlock;
constant constexpr uint kWeights = 2 * kBlock;
constant constexpr uint kDecays = 3 * kBlock;
constant constexpr uint kCoefficients = 4 * kBlock;
constant constexpr uint kGateFloats = 640;

// Sequences with one token have a threadgroup for each panel of 32 columns, others one for all. Grid: [panels, heads,
// sequences]
template <uint D>
[[max_total_threads_per_threadgroup(128)]]
kernel void kda(device const float* q [[buffer(0)]],
                device const float* k [[buffer(1)]],
                device const float* v [[buffer(2)]],
                device const float* a [[buffer(3)]],
                device const float* b [[buffer(4)]],
                device const float* a_log [[buffer(5)]],
                device const float* dt_bias [[buffer(6)]],
                device const int* cu_seqlens [[buffer(7)]],
                device const int* context_lens [[buffer(8)]],
                device const int* state_slots [[buffer(9)]],
                device float* state [[buffer(10)]],
                device float* k_rows [[buffer(11)]],
                device float* u_rows [[buffer(12)]],
                device float* g_rows [[buffer(13)]],
                device float* out [[buffer(14)]],
                constant pagoda_args::Kda& args [[buffer(15)]],
                uint3 tg [[threadgroup_position_in_grid]],
                uint tid [[thread_index_in_threadgroup]],
                uint sg [[simdgroup_index_in_threadgroup]],
                uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint N = D / 32;
  threadgroup float kn[D];  // the token's key, normalised, and its decays
  threadgroup float decays[D];
  threadgroup float fk[D];  // D_t k_t and D_t q_t
  threadgroup float fq[D];
  threadgroup float coef[2 * kBlock];  // of u and of o
  threadgroup float sums[2 * kGroups * kPanel];

  const uint head = tg.y;
  const int begin = cu_seqlens[tg.z];
  const int end = cu_seqlens[tg.z + 1];
  const bool is_one = end - begin == 1;
  if (!is_one && tg.x > 0) {
    return;
  }
  const uint first_panel = is_one ? tg.x : 0;
  const uint end_panel = is_one ? tg.x + 1 : (args.dv + kPanel - 1) / kPanel;
  const long slot = state_slots[tg.z];
  device float* s_head = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv;
  device float* k_old = k_rows + slot * args.k_rows_slot_stride + long(head) * kBlock * args.dk;
  device float* g_old = g_rows + slot * args.g_rows_slot_stride + long(head) * kBlock * args.dk;
  device float* u_head = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv;
  const float rate = precise::exp(a_log[head]);

  for (int t = begin; t < end; ++t) {
    const long token = t;
    const uint row = uint(context_lens[tg.z] - end + t) % kBlock;
    float kx[N];
    float qx[N];
    float product[N];
    load_row<N>(k + token * args.k_stride + head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + head * args.q_head_stride, args.dk, lane, qx);
    load_row<N>(a + token * args.a_stride + head * args.a_head_stride, args.dk, lane, product);
    const float k_inv = inverse_norm<N>(kx, lane);
    const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;
    #pragma unroll
    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = kx[i] * k_inv;
      qx[i] = qx[i] * q_inv;
      if (d < args.dk) {
        product[i] = precise::exp(-rate * softplus(product[i] + dt_bias[head * args.dk + d]));
      }
      if (sg == 0) {
        kn[d] = kx[i];
        decays[d] = product[i];
      }
    }
    float own[1];
    own[0] = lane_dot<N>(kx, qx);
    const float own_dot = fold<1, 32>(own, lane);
    if (tid == 0) {
      coef[kBlock + row] = own_dot;
    }
    for (uint i = 0; i < row; ++i) {
      const uint s = row - 1 - i;
      float kr[N];
      float gr[N];
      load_row<N>((device const float*)(k_old + s * args.dk), args.dk, lane, kr);
      load_row<N>((device const float*)(g_old + s * args.dk), args.dk, lane, gr);
      if (s % kGroups == sg) {
        #pragma unroll
        for (uint j = 0; j < N; ++j) {
          kr[j] = kr[j] * product[j];
        }
        float both[2];
        both[0] = lane_dot<N>(kr, kx);
        both[1] = lane_dot<N>(kr, qx);
        const float dot = fold<2, 32>(both, lane);
        if (lane == 0) {
          coef[s] = -dot;
        }
        if (lane == 16) {
          coef[kBlock + s] = dot;
        }
      }
      #pragma unroll
      for (uint j = 0; j < N; ++j) {
        product[j] = product[j] * gr[j];
      }
    }
    if (sg == 0) {
      #pragma unroll
      for (uint i = 0; i < N; ++i) {
        fk[lane + 32 * i] = kx[i] * product[i];
        fq[lane + 32 * i] = qx[i] * product[i];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const float beta = sigmoid(b[token * args.b_stride + head]);
    for (uint panel = first_panel; panel < end_panel; ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      device const float* s_at = s_head + first * args.dk + min(lane, width - 1);
      float yk = 0.0f;
      float yq = 0.0f;
      for (uint d = sg; d < args.dk; d += kGroups) {
        const float s = s_at[d * width];
        yk = fma(s, fk[d], yk);
        yq = fma(s, fq[d], yq);
      }
      sums[sg * kPanel + lane] = yk;
      sums[(kGroups + sg) * kPanel + lane] = yq;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (sg == 0 && lane < width) {
        device float* u_at = u_head + first + lane;
        float u = v[token * args.v_stride + head * args.v_head_stride + first + lane];
        float o = 0.0f;
        #pragma unroll
        for (uint i = 0; i < kGroups; ++i) {
          u = u - sums[i * kPanel + lane];
          o = o + sums[(kGroups + i) * kPanel + lane];
        }
        for (uint s = 0; s < row; ++s) {
          const float u_s = u_at[s * args.dv];
          u = fma(coef[s], u_s, u);
          o = fma(coef[kBlock + s], u_s, o);
        }
        u = u * beta;
        u_at[row * args.dv] = u;
        out[token * args.out_stride + head * args.out_head_stride + first + lane] = fma(coef[kBlock + row], u, o);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tg.x == 0) {
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
        g_old[row * args.dk + d] = decays[d];
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (row < kBlock - 1) {
      continue;
    }

    // The block is full.
    for (uint panel = first_panel; panel < end_panel; ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      const uint column = min(lane, width - 1);
      float u[kBlock];
      #pragma unroll
      for (uint s = 0; s < kBlock; ++s) {
        u[s] = u_head[s * args.dv + first + column];
      }
      for (uint d = sg; d < args.dk; d += kGroups) {
        float faded = decays[d];
        float sum = kn[d] * u[kBlock - 1];
        #pragma unroll
        for (uint i = 1; i < kBlock; ++i) {
          const uint s = kBlock - 1 - i;
          sum = fma(k_old[s * args.dk + d] * faded, u[s], sum);
          faded = faded * g_old[s * args.dk + d];
        }
        if (lane < width) {
          device float* at = s_head + first * args.dk + d * width + lane;
          *at = fma(*at, faded, sum);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  }
}

#define INSTANTIATE(NAME, D) template [[host_name("kda_" NAME)]] kernel decltype(kda<D>) kda<D>;

INSTANTIATE("128", 128)
INSTANTIATE("256", 256)
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/kda.metal"
# 1 "Shaders/kda.metal"






# 1 "Shaders/args/kda.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/kda.h"

namespace pagoda_args {

struct Kda {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, a_head_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint dk, dv;
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Kda) == 136, "host and kernel agree");

}
# 8 "Shaders/kda.metal"
# 1 "Shaders/gdn.h"
# 18 "Shaders/gdn.h"
# 1 "Shaders/args/gdn.h"



# 1 "Shaders/args/causal_conv1d.h"





namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}
# 5 "Shaders/args/gdn.h"


namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint is_wide;
  float q_scale;
  uint reserved;

  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");

}
# 19 "Shaders/gdn.h"
# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
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


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
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



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; stride < block; stride *= 2) {
    for (uint i = tid; i < block / 2; i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {
#pragma unroll
  for (uint j = 0; j < C; ++j) {


#pragma unroll
    for (uint i = 0; i < R; i += 2) {
      msl_multiply_accumulate_pair(acc[i][j], acc[i + 1][j], a[i], a[i + 1], b[j]);
    }






  }
}
# 20 "Shaders/gdn.h"

MSL_CONSTANT constexpr uint kBlock = 16;
MSL_CONSTANT constexpr uint kPanel = 32;
MSL_CONSTANT constexpr uint kSplit = 8;
MSL_CONSTANT constexpr uint kGroups = 4;
MSL_CONSTANT constexpr float kNormEps = 1.0e-6f;


METAL_FUNC void keep_loads_here() {

  msl_keep_loads_here();

}

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }


METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}



template <uint N, uint P>
METAL_FUNC float fold(MSL_THREAD float (&x)[N], uint lane) {
  uint n = N;
#pragma unroll
  for (uint m = P / 2; m > 0; m /= 2) {
    if (n > 1) {
      n /= 2;
      const uint high = 0u - (lane / m & 1u);
#pragma unroll
      for (uint i = 0; i < N / 2; ++i) {

        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(m));
        }
      }
    } else {
      x[0] = x[0] + simd_shuffle_xor(x[0], ushort(m));
    }
  }
  return x[0];
}


template <uint N>
METAL_FUNC void load_row(MSL_DEVICE const float* from, uint dk, uint lane, MSL_THREAD float (&x)[N]) {
  load_ahead<N>(from, lane, 32, dk, x);
}

template <uint N>
METAL_FUNC float lane_dot(MSL_THREAD const float (&x)[N], MSL_THREAD const float (&y)[N]) {
  float sum = 0.0f;
#pragma unroll
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
#pragma unroll
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


template <uint PER>
METAL_FUNC void scale_state(MSL_THREAD float (&s)[PER], float decay) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}

template <uint PER>
METAL_FUNC void add_row(MSL_THREAD float (&s)[PER], MSL_THREAD const float (&k)[PER], float weighted_u) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = fma(k[i], weighted_u, s[i]);
  }
}


template <uint PER>
METAL_FUNC void load_state(MSL_DEVICE const float* at, uint width, uint dk, uint part, MSL_THREAD float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = at[d * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(MSL_DEVICE float* at, uint width, uint dk, uint part, MSL_THREAD const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = s[i];
    }
  }
}


METAL_FUNC uint first_block(MSL_DEVICE const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }



MSL_CONSTANT constexpr uint kBetas = kBlock;
MSL_CONSTANT constexpr uint kWeights = 2 * kBlock;
MSL_CONSTANT constexpr uint kDecays = 3 * kBlock;
MSL_CONSTANT constexpr uint kCoefficients = 4 * kBlock;
MSL_CONSTANT constexpr uint kGateFloats = 640;
# 9 "Shaders/kda.metal"



template <uint D>

MSL_KERNEL void kda(MSL_DEVICE const float* q ,
                MSL_DEVICE const float* k ,
                MSL_DEVICE const float* v ,
                MSL_DEVICE const float* a ,
                MSL_DEVICE const float* b ,
                MSL_DEVICE const float* a_log ,
                MSL_DEVICE const float* dt_bias ,
                MSL_DEVICE const int* cu_seqlens ,
                MSL_DEVICE const int* context_lens ,
                MSL_DEVICE const int* state_slots ,
                MSL_DEVICE float* state ,
                MSL_DEVICE float* k_rows ,
                MSL_DEVICE float* u_rows ,
                MSL_DEVICE float* g_rows ,
                MSL_DEVICE float* out ,
                MSL_CONSTANT pagoda_args::Kda& args ,
                uint3 tg ,
                uint tid ,
                uint sg ,
                uint lane ) {
  constexpr uint N = D / 32;
  MSL_TG_VAR(1, kn, [D], float)
  MSL_TG_VAR(2, decays, [D], float)
  MSL_TG_VAR(3, fk, [D], float)
  MSL_TG_VAR(4, fq, [D], float)
  MSL_TG_VAR(5, coef, [2*kBlock], float)
  MSL_TG_VAR(6, sums, [2*kGroups*kPanel], float)

  const uint head = tg.y;
  const int begin = cu_seqlens[tg.z];
  const int end = cu_seqlens[tg.z + 1];
  const bool is_one = end - begin == 1;
  if (!is_one && tg.x > 0) {
    return;
  }
  const uint first_panel = is_one ? tg.x : 0;
  const uint end_panel = is_one ? tg.x + 1 : (args.dv + kPanel - 1) / kPanel;
  const long slot = state_slots[tg.z];
  MSL_DEVICE float* s_head = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv;
  MSL_DEVICE float* k_old = k_rows + slot * args.k_rows_slot_stride + long(head) * kBlock * args.dk;
  MSL_DEVICE float* g_old = g_rows + slot * args.g_rows_slot_stride + long(head) * kBlock * args.dk;
  MSL_DEVICE float* u_head = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv;
  const float rate = precise::exp(a_log[head]);

  for (int t = begin; t < end; ++t) {
    const long token = t;
    const uint row = uint(context_lens[tg.z] - end + t) % kBlock;
    float kx[N];
    float qx[N];
    float product[N];
    load_row<N>(k + token * args.k_stride + head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + head * args.q_head_stride, args.dk, lane, qx);
    load_row<N>(a + token * args.a_stride + head * args.a_head_stride, args.dk, lane, product);
    const float k_inv = inverse_norm<N>(kx, lane);
    const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;
#pragma unroll
    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = kx[i] * k_inv;
      qx[i] = qx[i] * q_inv;
      if (d < args.dk) {
        product[i] = precise::exp(-rate * softplus(product[i] + dt_bias[head * args.dk + d]));
      }
      if (sg == 0) {
        kn[d] = kx[i];
        decays[d] = product[i];
      }
    }
    float own[1];
    own[0] = lane_dot<N>(kx, qx);
    const float own_dot = fold<1, 32>(own, lane);
    if (tid == 0) {
      coef[kBlock + row] = own_dot;
    }
    for (uint i = 0; i < row; ++i) {
      const uint s = row - 1 - i;
      float kr[N];
      float gr[N];
      load_row<N>((MSL_DEVICE const float*)(k_old + s * args.dk), args.dk, lane, kr);
)msl"
R"msl(      load_row<N>((MSL_DEVICE const float*)(g_old + s * args.dk), args.dk, lane, gr);
      if (s % kGroups == sg) {
#pragma unroll
        for (uint j = 0; j < N; ++j) {
          kr[j] = kr[j] * product[j];
        }
        float both[2];
        both[0] = lane_dot<N>(kr, kx);
        both[1] = lane_dot<N>(kr, qx);
        const float dot = fold<2, 32>(both, lane);
        if (lane == 0) {
          coef[s] = -dot;
        }
        if (lane == 16) {
          coef[kBlock + s] = dot;
        }
      }
#pragma unroll
      for (uint j = 0; j < N; ++j) {
        product[j] = product[j] * gr[j];
      }
    }
    if (sg == 0) {
#pragma unroll
      for (uint i = 0; i < N; ++i) {
        fk[lane + 32 * i] = kx[i] * product[i];
        fq[lane + 32 * i] = qx[i] * product[i];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const float beta = sigmoid(b[token * args.b_stride + head]);
    for (uint panel = first_panel; panel < end_panel; ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      MSL_DEVICE const float* s_at = s_head + first * args.dk + min(lane, width - 1);
      float yk = 0.0f;
      float yq = 0.0f;
      for (uint d = sg; d < args.dk; d += kGroups) {
        const float s = s_at[d * width];
        yk = fma(s, fk[d], yk);
        yq = fma(s, fq[d], yq);
      }
      sums[sg * kPanel + lane] = yk;
      sums[(kGroups + sg) * kPanel + lane] = yq;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (sg == 0 && lane < width) {
        MSL_DEVICE float* u_at = u_head + first + lane;
        float u = v[token * args.v_stride + head * args.v_head_stride + first + lane];
        float o = 0.0f;
#pragma unroll
        for (uint i = 0; i < kGroups; ++i) {
          u = u - sums[i * kPanel + lane];
          o = o + sums[(kGroups + i) * kPanel + lane];
        }
        for (uint s = 0; s < row; ++s) {
          const float u_s = u_at[s * args.dv];
          u = fma(coef[s], u_s, u);
          o = fma(coef[kBlock + s], u_s, o);
        }
        u = u * beta;
        u_at[row * args.dv] = u;
        out[token * args.out_stride + head * args.out_head_stride + first + lane] = fma(coef[kBlock + row], u, o);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tg.x == 0) {
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
        g_old[row * args.dk + d] = decays[d];
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (row < kBlock - 1) {
      continue;
    }


    for (uint panel = first_panel; panel < end_panel; ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      const uint column = min(lane, width - 1);
      float u[kBlock];
#pragma unroll
      for (uint s = 0; s < kBlock; ++s) {
        u[s] = u_head[s * args.dv + first + column];
      }
      for (uint d = sg; d < args.dk; d += kGroups) {
        float faded = decays[d];
        float sum = kn[d] * u[kBlock - 1];
#pragma unroll
        for (uint i = 1; i < kBlock; ++i) {
          const uint s = kBlock - 1 - i;
          sum = fma(k_old[s * args.dk + d] * faded, u[s], sum);
          faded = faded * g_old[s * args.dk + d];
        }
        if (lane < width) {
          MSL_DEVICE float* at = s_head + first * args.dk + d * width + lane;
          *at = fma(*at, faded, sum);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  }
}







# 1 "kda.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_kda_128)
extern "C" __global__ void __launch_bounds__(128) kda_128(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Kda args) {
  kda<128>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_kda_256)
extern "C" __global__ void __launch_bounds__(128) kda_256(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Kda args) {
  kda<256>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
