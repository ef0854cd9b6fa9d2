// The text of gdn_decode.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gdn_decode_source() noexcept {
  return {"gdn_decode",
R"msl(#pragma METAL fp contract(off)
// gdn_decode: the gated delta rule for sequences with one token; gdn.h has the formulas and the layout.
// One channel of causal_conv1d: a short window over time, whose past lies in a ring.

// Arguments of causal_conv1d.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;  // elements from one row to the next
  long tail_slot_stride, tail_row_stride;    // elements
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

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

// Where the ring has a position, which is at least -tail_rows.
METAL_FUNC long tail_place(constant pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}

// x, tail, weight: at the channel; x at the sequence's first row in this step, which is at `position`. Inputs before it
// are in the tail.
METAL_FUNC float conv_row(device const float* x, device const float* tail, device const float* weight,
                          constant pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  for (uint i = 0; i < args.kernel_size; ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_place(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}
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

// S := decay S + sum_s k_s (weight_s u_s)^T is scale_state, then add_row for each row in order.
template <uint PER>
)msl"
R"msl(METAL_FUNC void scale_state(thread float (&s)[PER], float decay) {
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

// One token: reads S, appends a row, writes S only when the row fills the block. All loads are on their way before the
// first is used. A simdgroup has 8 columns, 2 for each group of 8 lanes. With CONV q, k and v are what causal_conv1d
// would make of conv_x, and the tail gets the inputs; its ring has room for one more than the window's past, so that
// none of those that other threadgroups read is written. Grid: [panels, v_heads, sequences]
template <uint D, bool CONV>
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_decode(device const float* q [[buffer(0)]],
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
                       device const float* conv_x [[buffer(15)]],
                       device const float* conv_weight [[buffer(16)]],
                       device float* conv_tail [[buffer(17)]],
                       constant pagoda_args::Gdn& args [[buffer(18)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint PER = D / kSplit;
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;  // rows whose dots a simdgroup makes
  threadgroup float kn[D];                 // the token's key and query, normalised, zeros after dk
  threadgroup float qn[D];
  threadgroup float coef[2 * kBlock];  // of u and of o
  threadgroup float raw[CONV ? 2 * D : 1];  // the token's key and query as the convolution makes them

  const uint head = tg.y;
  const long token = cu_seqlens[tg.z];
  if (cu_seqlens[tg.z + 1] - int(token) != 1) {
    return;
  }
  const long slot = state_slots[tg.z];
  const uint row = uint(context_lens[tg.z] - 1) % kBlock;
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint mine = part / 2 % 2;  // of the two columns, the one whose sums the lane keeps
  const uint pair = sg * 8 + lane / kSplit * 2;                 // the first of the two
  const uint column = first + min(pair + mine, width - 1);  // those beyond the panel repeat its last one
  const bool is_inside = pair + mine < width;

  device float* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk;
  float s[2][PER];
  if (args.is_wide != 0) {
    #pragma unroll
    for (uint i = 0; i < PER; ++i) {
      const float2 both = *(device const float2*)(s_at + dim_of(part, i) * kPanel + pair);
      s[0][i] = both.x;
      s[1][i] = both.y;
    }
  } else {
    load_state<PER>((device const float*)(s_at + pair), width, pair < width ? args.dk : 0, part, s[0]);
    load_state<PER>((device const float*)(s_at + pair + 1), width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
  const int position = context_lens[tg.z] - 1;
  device const float* inputs = conv_x + token * args.conv.x_stride;
  device float* past = conv_tail + slot * args.conv.tail_slot_stride;
  if (CONV) {
    const bool is_first = tg.x == 0 && head % group == 0;  // of the threadgroups that share the key
    for (uint d = tid; d < args.dk; d += 128) {
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        const uint channel = (i == 0 ? args.k_channel : args.q_channel) + k_head * args.dk + d;
        raw[i * D + d] = conv_row(inputs + channel, (device const float*)(past + channel), conv_weight + channel,
                                  args.conv, position, 0);
        if (is_first) {
          past[tail_place(args.conv, position) + channel] = inputs[channel];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  float kx[N];
  float qx[N];
  if (CONV) {
    #pragma unroll
    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = 0.0f;
      qx[i] = 0.0f;
      if (d < args.dk) {
        kx[i] = raw[d];
        qx[i] = raw[D + d];
      }
    }
  } else {
    load_row<N>(k + token * args.k_stride + k_head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + k_head * args.q_head_stride, args.dk, lane, qx);
  }
  device float* k_old = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
  device float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  float kr[EACH][N];
  float u_old[kBlock];
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    #pragma unroll
    for (uint j = 0; j < N; ++j) {
      kr[i][j] = 0.0f;
    }
    if (sg * EACH + i < row) {
      load_row<N>((device const float*)(k_old + (sg * EACH + i) * args.dk), args.dk, lane, kr[i]);
    }
  }
  #pragma unroll
  for (uint r = 0; r < kBlock; ++r) {
    u_old[r] = 0.0f;
    if (r < row) {
      u_old[r] = u_at[r * args.dv];
    }
  }
  const uint dot_row = sg * EACH + lane / 4 % EACH;
  const float g_row = dot_row < row ? g_old[dot_row] : 0.0f;
  const float g_before = row > 0 ? g_old[row - 1] : 0.0f;
  const uint v_channel = args.v_channel + head * args.dv + column;
  const float v_in = CONV ? conv_row(inputs + v_channel, (device const float*)(past + v_channel),
                                     conv_weight + v_channel, args.conv, position, 0)
                          : v[token * args.v_stride + head * args.v_head_stride + column];
  const float a_in = a[token * args.a_stride + head];
  const float b_in = b[token * args.b_stride + head];
  const float rate_log = a_log[head];
  const float bias = dt_bias[head];

  const float g = next_g(g_before, precise::exp(rate_log), softplus(a_in + bias));
  const float decay = precise::exp(g);
  const float beta = sigmoid(b_in);
  const float k_inv = inverse_norm<N>(kx, lane);
  const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;
  #pragma unroll
  for (uint i = 0; i < N; ++i) {
    kx[i] = kx[i] * k_inv;
    qx[i] = qx[i] * q_inv;
    if (sg == 0) {
      kn[lane + 32 * i] = kx[i];
      qn[lane + 32 * i] = qx[i];
    }
  }
  float dots[2 * EACH];
  #pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint is_own = 0u - uint(sg * EACH + i == row);
    #pragma unroll
    for (uint j = 0; j < N; ++j) {
      kr[i][j] = pick(is_own, kx[j], kr[i][j]);
    }
    dots[i] = lane_dot<N>(kr[i], kx);
    dots[EACH + i] = lane_dot<N>(kr[i], qx);
  }
  const float dot = fold<2 * EACH, 32>(dots, lane);
  if (lane % 4 == 0) {
    const float g_s = dot_row < row ? g_row : g;
    coef[lane / 16 * kBlock + dot_row] = lane < 16 ? u_coefficient(dot, g, g_s) : o_coefficient(dot, g, g_s);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float k_part[PER];
  float q_part[PER];
  load_part<PER>((threadgroup const float*)(kn), part, k_part);
  load_part<PER>((threadgroup const float*)(qn), part, q_part);
  const float y = state_times<2, PER>(s, k_part, q_part, lane);
  float acc = begin_row(kind, decay, y, v_in);
  #pragma unroll
  for (uint r = 0; r < kBlock; ++r) {
    // Only saves work: rows that are not there have a u of zero.
    if (r < row) {
      acc = fma(coef[kind * kBlock + r], u_old[r], acc);
    }
  }
  const float u = simd_shuffle(acc * beta, ushort(lane & ~4u));
  if (part % 2 == 0 && is_inside) {
    if (kind == 1) {
      out[token * args.out_stride + head * args.out_head_stride + column] = fma(coef[kBlock + row], u, acc);
    } else {
      u_at[row * args.dv] = u;
      if (CONV) {
        past[tail_place(args.conv, position) + v_channel] = inputs[v_channel];
      }
    }
  }
  if (tg.x == 0) {
    if (head % group == 0) {
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
      }
    }
    if (tid == 0) {
      g_old[row] = g;
    }
  }
  if (row < kBlock - 1) {
    return;
  }

  // The block is full.
  scale_state<PER>(s[0], decay);
  scale_state<PER>(s[1], decay);
  #pragma unroll 1
  for (uint r = 0; r < kBlock; ++r) {
    float weighted = u;
    if (r < row) {
      weighted = precise::exp(g - g_old[r]) * u_at[r * args.dv];
      if (args.is_wide != 0) {
        #pragma unroll
        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(device const float4*)(k_old + r * args.dk + dim_of(part, i));
          k_part[i] = f.x;
          k_part[i + 1] = f.y;
          k_part[i + 2] = f.z;
          k_part[i + 3] = f.w;
        }
      } else {
        load_state<PER>((device const float*)(k_old + r * args.dk), 1, args.dk, part, k_part);
      }
    } else {
      load_part<PER>((threadgroup const float*)(kn), part, k_part);
    }
    const float other = simd_shuffle_xor(weighted, ushort(2));
    add_row<PER>(s[0], k_part, mine == 0 ? weighted : other);
    add_row<PER>(s[1], k_part, mine == 0 ? other : weighted);
  }
  if (args.is_wide != 0) {
    #pragma unroll
    for (uint i = 0; i < PER; ++i) {
      *(device float2*)(s_at + dim_of(part, i) * kPanel + pair) = float2(s[0][i], s[1][i]);
    }
  } else {
    store_state<PER>(s_at + pair, width, pair < width ? args.dk : 0, part, s[0]);
    store_state<PER>(s_at + pair + 1, width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
}

#define INSTANTIATE(NAME, D, CONV) \
  template [[host_name("gdn_decode_" NAME)]] kernel decltype(gdn_decode<D, CONV>) gdn_decode<D, CONV>;

INSTANTIATE("128", 128, false)
)msl"
R"msl(INSTANTIATE("256", 256, false)
INSTANTIATE("conv_128", 128, true)
INSTANTIATE("conv_256", 256, true)
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/gdn_decode.metal"
# 1 "Shaders/gdn_decode.metal"

# 1 "Shaders/conv.h"



# 1 "Shaders/args/causal_conv1d.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/causal_conv1d.h"

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}
# 5 "Shaders/conv.h"
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
# 6 "Shaders/conv.h"


METAL_FUNC long tail_place(MSL_CONSTANT pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}



METAL_FUNC float conv_row(MSL_DEVICE const float* x, MSL_DEVICE const float* tail, MSL_DEVICE const float* weight,
                          MSL_CONSTANT pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  for (uint i = 0; i < args.kernel_size; ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_place(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}
# 3 "Shaders/gdn_decode.metal"
# 1 "Shaders/gdn.h"
# 18 "Shaders/gdn.h"
# 1 "Shaders/args/gdn.h"






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
# 4 "Shaders/gdn_decode.metal"





template <uint D, bool CONV>

MSL_KERNEL void gdn_decode(MSL_DEVICE const float* q ,
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
                       MSL_DEVICE const float* conv_x ,
                       MSL_DEVICE const float* conv_weight ,
                       MSL_DEVICE float* conv_tail ,
                       MSL_CONSTANT pagoda_args::Gdn& args ,
                       uint3 tg ,
                       uint tid ,
                       uint sg ,
                       uint lane ) {
  constexpr uint PER = D / kSplit;
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;
  MSL_TG_VAR(1, kn, [D], float)
  MSL_TG_VAR(2, qn, [D], float)
  MSL_TG_VAR(3, coef, [2*kBlock], float)
  MSL_TG_VAR(4, raw, [CONV?2*D:1], float)

  const uint head = tg.y;
  const long token = cu_seqlens[tg.z];
  if (cu_seqlens[tg.z + 1] - int(token) != 1) {
    return;
  }
  const long slot = state_slots[tg.z];
  const uint row = uint(context_lens[tg.z] - 1) % kBlock;
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint mine = part / 2 % 2;
  const uint pair = sg * 8 + lane / kSplit * 2;
  const uint column = first + min(pair + mine, width - 1);
  const bool is_inside = pair + mine < width;

  MSL_DEVICE float* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk;
  float s[2][PER];
  if (args.is_wide != 0) {
#pragma unroll
    for (uint i = 0; i < PER; ++i) {
      const float2 both = *(MSL_DEVICE const float2*)(s_at + dim_of(part, i) * kPanel + pair);
      s[0][i] = both.x;
      s[1][i] = both.y;
    }
  } else {
    load_state<PER>((MSL_DEVICE const float*)(s_at + pair), width, pair < width ? args.dk : 0, part, s[0]);
    load_state<PER>((MSL_DEVICE const float*)(s_at + pair + 1), width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
  const int position = context_lens[tg.z] - 1;
  MSL_DEVICE const float* inputs = conv_x + token * args.conv.x_stride;
  MSL_DEVICE float* past = conv_tail + slot * args.conv.tail_slot_stride;
  if (CONV) {
)msl"
R"msl(    const bool is_first = tg.x == 0 && head % group == 0;
    for (uint d = tid; d < args.dk; d += 128) {
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
        const uint channel = (i == 0 ? args.k_channel : args.q_channel) + k_head * args.dk + d;
        raw[i * D + d] = conv_row(inputs + channel, (MSL_DEVICE const float*)(past + channel), conv_weight + channel,
                                  args.conv, position, 0);
        if (is_first) {
          past[tail_place(args.conv, position) + channel] = inputs[channel];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  float kx[N];
  float qx[N];
  if (CONV) {
#pragma unroll
    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = 0.0f;
      qx[i] = 0.0f;
      if (d < args.dk) {
        kx[i] = raw[d];
        qx[i] = raw[D + d];
      }
    }
  } else {
    load_row<N>(k + token * args.k_stride + k_head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + k_head * args.q_head_stride, args.dk, lane, qx);
  }
  MSL_DEVICE float* k_old = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
  MSL_DEVICE float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  float kr[EACH][N];
  float u_old[kBlock];
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
#pragma unroll
    for (uint j = 0; j < N; ++j) {
      kr[i][j] = 0.0f;
    }
    if (sg * EACH + i < row) {
      load_row<N>((MSL_DEVICE const float*)(k_old + (sg * EACH + i) * args.dk), args.dk, lane, kr[i]);
    }
  }
#pragma unroll
  for (uint r = 0; r < kBlock; ++r) {
    u_old[r] = 0.0f;
    if (r < row) {
      u_old[r] = u_at[r * args.dv];
    }
  }
  const uint dot_row = sg * EACH + lane / 4 % EACH;
  const float g_row = dot_row < row ? g_old[dot_row] : 0.0f;
  const float g_before = row > 0 ? g_old[row - 1] : 0.0f;
  const uint v_channel = args.v_channel + head * args.dv + column;
  const float v_in = CONV ? conv_row(inputs + v_channel, (MSL_DEVICE const float*)(past + v_channel),
                                     conv_weight + v_channel, args.conv, position, 0)
                          : v[token * args.v_stride + head * args.v_head_stride + column];
  const float a_in = a[token * args.a_stride + head];
  const float b_in = b[token * args.b_stride + head];
  const float rate_log = a_log[head];
  const float bias = dt_bias[head];

  const float g = next_g(g_before, precise::exp(rate_log), softplus(a_in + bias));
  const float decay = precise::exp(g);
  const float beta = sigmoid(b_in);
  const float k_inv = inverse_norm<N>(kx, lane);
  const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;
#pragma unroll
  for (uint i = 0; i < N; ++i) {
    kx[i] = kx[i] * k_inv;
    qx[i] = qx[i] * q_inv;
    if (sg == 0) {
      kn[lane + 32 * i] = kx[i];
      qn[lane + 32 * i] = qx[i];
    }
  }
  float dots[2 * EACH];
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint is_own = 0u - uint(sg * EACH + i == row);
#pragma unroll
    for (uint j = 0; j < N; ++j) {
      kr[i][j] = pick(is_own, kx[j], kr[i][j]);
    }
    dots[i] = lane_dot<N>(kr[i], kx);
    dots[EACH + i] = lane_dot<N>(kr[i], qx);
  }
  const float dot = fold<2 * EACH, 32>(dots, lane);
  if (lane % 4 == 0) {
    const float g_s = dot_row < row ? g_row : g;
    coef[lane / 16 * kBlock + dot_row] = lane < 16 ? u_coefficient(dot, g, g_s) : o_coefficient(dot, g, g_s);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float k_part[PER];
  float q_part[PER];
  load_part<PER>((MSL_THREADGROUP const float*)(kn), part, k_part);
  load_part<PER>((MSL_THREADGROUP const float*)(qn), part, q_part);
  const float y = state_times<2, PER>(s, k_part, q_part, lane);
  float acc = begin_row(kind, decay, y, v_in);
#pragma unroll
  for (uint r = 0; r < kBlock; ++r) {

    if (r < row) {
      acc = fma(coef[kind * kBlock + r], u_old[r], acc);
    }
  }
  const float u = simd_shuffle(acc * beta, ushort(lane & ~4u));
  if (part % 2 == 0 && is_inside) {
    if (kind == 1) {
      out[token * args.out_stride + head * args.out_head_stride + column] = fma(coef[kBlock + row], u, acc);
    } else {
      u_at[row * args.dv] = u;
      if (CONV) {
        past[tail_place(args.conv, position) + v_channel] = inputs[v_channel];
      }
    }
  }
  if (tg.x == 0) {
    if (head % group == 0) {
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
      }
    }
    if (tid == 0) {
      g_old[row] = g;
    }
  }
  if (row < kBlock - 1) {
    return;
  }


  scale_state<PER>(s[0], decay);
  scale_state<PER>(s[1], decay);
#pragma unroll 1
  for (uint r = 0; r < kBlock; ++r) {
    float weighted = u;
    if (r < row) {
      weighted = precise::exp(g - g_old[r]) * u_at[r * args.dv];
      if (args.is_wide != 0) {
#pragma unroll
        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(MSL_DEVICE const float4*)(k_old + r * args.dk + dim_of(part, i));
          k_part[i] = f.x;
          k_part[i + 1] = f.y;
          k_part[i + 2] = f.z;
          k_part[i + 3] = f.w;
        }
      } else {
        load_state<PER>((MSL_DEVICE const float*)(k_old + r * args.dk), 1, args.dk, part, k_part);
      }
    } else {
      load_part<PER>((MSL_THREADGROUP const float*)(kn), part, k_part);
    }
    const float other = simd_shuffle_xor(weighted, ushort(2));
    add_row<PER>(s[0], k_part, mine == 0 ? weighted : other);
    add_row<PER>(s[1], k_part, mine == 0 ? other : weighted);
  }
  if (args.is_wide != 0) {
#pragma unroll
    for (uint i = 0; i < PER; ++i) {
      *(MSL_DEVICE float2*)(s_at + dim_of(part, i) * kPanel + pair) = float2(s[0][i], s[1][i]);
    }
  } else {
    store_state<PER>(s_at + pair, width, pair < width ? args.dk : 0, part, s[0]);
    store_state<PER>(s_at + pair + 1, width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
}










# 1 "gdn_decode.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_decode_128)
extern "C" __global__ void __launch_bounds__(128) gdn_decode_128(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const float* conv_x, const float* conv_weight, float* conv_tail, const pagoda_args::Gdn args) {
  gdn_decode<128, false>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, conv_x, conv_weight, conv_tail, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_decode_256)
extern "C" __global__ void __launch_bounds__(128) gdn_decode_256(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const float* conv_x, const float* conv_weight, float* conv_tail, const pagoda_args::Gdn args) {
  gdn_decode<256, false>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, conv_x, conv_weight, conv_tail, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_decode_conv_128)
extern "C" __global__ void __launch_bounds__(128) gdn_decode_conv_128(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const float* conv_x, const float* conv_weight, float* conv_tail, const pagoda_args::Gdn args) {
  gdn_decode<128, true>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, conv_x, conv_weight, conv_tail, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_decode_conv_256)
extern "C" __global__ void __launch_bounds__(128) gdn_decode_conv_256(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const float* conv_x, const float* conv_weight, float* conv_tail, const pagoda_args::Gdn args) {
  gdn_decode<256, true>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, conv_x, conv_weight, conv_tail, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
