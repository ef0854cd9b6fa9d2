// The text of gdn_prefill.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gdn_prefill_source() noexcept {
  return {"gdn_prefill",
R"msl(#pragma METAL fp contract(off)
// gdn_prefill: the gated delta rule for sequences with several tokens, after gdn_prepare; gdn.h has the formulas.
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
)msl"
R"msl(    if (d < dk) {
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

constant constexpr uint kColumns = 16;  // of a threadgroup: 4 for each simdgroup

// The part of a block that a thread fetches ahead of its turn.
struct NextBlock {
  float4 rows[8];  // of keys, and of queries where there is room for them
  float gate[kGateFloats / 128];
  float v[2];
};

// rows, gate: the block's. v: of the threadgroup's first column; row0: the block's row 0 among the sequence's tokens
METAL_FUNC void load_block(device const float* rows, device const float* gate, device const float* v, int row0,
                           int tokens, uint num_columns, uint tid, constant pagoda_args::Gdn& args,
                           thread NextBlock& to) {
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    to.rows[i] = *(device const float4*)(rows + 4 * (tid + 128 * i));
  }
#pragma unroll
  for (uint i = 0; i < kGateFloats / 128; ++i) {
    to.gate[i] = gate[tid + 128 * i];
  }
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    // Rows and columns that are not there are some that are, unused.
    const int row = clamp(row0 + int(tid / kColumns + 8 * i), 0, tokens - 1);
    to.v[i] = v[long(row) * args.v_stride + clamp(tid % kColumns, 0u, num_columns - 1)];
  }
}

// Walks the blocks of a sequence with S in registers, the next block on its way. Grid: [dv / 16, v_heads, sequences]
template <uint D>
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_prefill(device const float* v [[buffer(0)]],
                        device const int* cu_seqlens [[buffer(1)]],
                        device const int* context_lens [[buffer(2)]],
                        device const int* state_slots [[buffer(3)]],
                        device const float* rows [[buffer(4)]],
                        device const float* gates [[buffer(5)]],
                        device float* state [[buffer(6)]],
                        device float* k_rows [[buffer(7)]],
                        device float* u_rows [[buffer(8)]],
                        device float* g_rows [[buffer(9)]],
                        device float* out [[buffer(10)]],
                        constant pagoda_args::Gdn& args [[buffer(11)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint PER = D / kSplit;
  threadgroup float x_tile[32 * 128];  // keys; of 128 dims, queries too
  threadgroup float gate[kGateFloats];
  threadgroup float v_tile[kBlock * kColumns];

  const uint head = tg.y;
  const int begin = cu_seqlens[tg.z];
  const int tokens = cu_seqlens[tg.z + 1] - begin;
  if (tokens == 1) {
    return;
  }
  const int start = (context_lens[tg.z] - tokens) % int(kBlock);
  const uint blocks = (uint(start + tokens) + kBlock - 1) / kBlock;
  const uint last_rows = uint(start + tokens) - (blocks - 1) * kBlock;
  const long slot = state_slots[tg.z];
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint tile_column = sg * 4 + lane / kSplit;
  const uint num_columns = min(kColumns, args.dv - tg.x * kColumns);
  const bool is_inside = tile_column < num_columns;
  const uint column = tg.x * kColumns + min(tile_column, num_columns - 1);  // those beyond repeat the last one
  const uint panel = column / kPanel * kPanel;
  const uint width = min(kPanel, args.dv - panel);

  device float* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + panel * args.dk +
                       (column - panel);
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  device const float* v_at = v + long(begin) * args.v_stride + head * args.v_head_stride + tg.x * kColumns;
  const long first = first_block(cu_seqlens, tg.z);
  device const float* k_from = rows + (first * args.k_heads + k_head) * 2 * kBlock * D;
  device const float* gate_from = gates + (first * args.v_heads + head) * kGateFloats;
  const long k_step = long(args.k_heads) * 2 * kBlock * D;
  const long gate_step = long(args.v_heads) * kGateFloats;

  float s[1][PER];
  load_state<PER>((device const float*)(s_at), width, args.dk, part, s[0]);
  NextBlock next;
  load_block(k_from, gate_from, v_at, -start, tokens, num_columns, tid, args, next);

  for (uint block = 0; block < blocks; ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    device const float* q_from = k_from + kBlock * D;
    #pragma unroll
    for (uint i = 0; i < 8; ++i) {
      *(threadgroup float4*)(x_tile + 4 * (tid + 128 * i)) = next.rows[i];
    }
    #pragma unroll
    for (uint i = 0; i < kGateFloats / 128; ++i) {
      gate[tid + 128 * i] = next.gate[i];
    }
    v_tile[tid] = next.v[0];
    v_tile[tid + 128] = next.v[1];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // Only saves work: there is no next block after the last.
    if (block + 1 < blocks) {
      k_from += k_step;
      gate_from += gate_step;
      load_block(k_from, gate_from, v_at, row0 + int(kBlock), tokens, num_columns, tid, args, next);
    }

    float acc[kBlock];
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      float k[PER];
      float q[PER];
      load_part<PER>((threadgroup const float*)(x_tile + t * D), part, k);
      if (D == 128) {
        load_part<PER>((threadgroup const float*)(x_tile + (kBlock + t) * 128), part, q);
      } else {
        #pragma unroll
        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(device const float4*)(q_from + t * D + dim_of(part, i));
          q[i] = f.x;
          q[i + 1] = f.y;
          q[i + 2] = f.z;
          q[i + 3] = f.w;
        }
      }
      const float y = state_times<1, PER>(s, k, q, lane);
      acc[t] = begin_row(kind, gate[kDecays + t], y, v_tile[t * kColumns + tile_column]);
      keep_loads_here();
    }

    // Row r is final once the rows before it have been added; then it is added to the rows after it.
    float u[kBlock];
    #pragma unroll
    for (uint r = 0; r < kBlock; ++r) {
      u[r] = simd_shuffle(acc[r] * gate[kBetas + r], ushort(lane & ~4u));
      if (r < lo) {
        u[r] = u_at[r * args.dv];
      }
      #pragma unroll
      for (uint t4 = 0; t4 < kBlock; t4 += 4) {
        const float4 c4 =
            *(threadgroup const float4*)(gate + kCoefficients + (kind * kBlock + r) * kBlock + t4);
        const float c[4] = {c4.x, c4.y, c4.z, c4.w};
        #pragma unroll
        for (uint j = 0; j < 4; ++j) {
          // Only saves work: rows before have a coefficient of zero.
          if (t4 + j >= r) {
            acc[t4 + j] = fma(c[j], u[r], acc[t4 + j]);
          }
        }
      }
      keep_loads_here();
    }
    // Each of the four lanes that have a column's outputs writes every fourth row.
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const uint t = 4 * i + part % 4;
      const float low = part % 2 == 0 ? acc[4 * i] : acc[4 * i + 1];
      const float high = part % 2 == 0 ? acc[4 * i + 2] : acc[4 * i + 3];
      if (kind == 1 && t >= lo && t < hi && is_inside) {
        out[long(begin + row0 + int(t)) * args.out_stride + head * args.out_head_stride + column] =
            part % 4 < 2 ? low : high;
      }
    }

    if (hi == kBlock) {
      scale_state<PER>(s[0], gate[kDecays + kBlock - 1]);
      #pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        float k[PER];
        load_part<PER>((threadgroup const float*)(x_tile + r * D), part, k);
        add_row<PER>(s[0], k, gate[kWeights + r] * u[r]);
        keep_loads_here();
      }
    }
    // A place keeps the last row that was put there: those of the last block, and before it those of the last but one.
    // Rows from before this step are not written again: other lanes may still read them.
    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kSplit == part && is_inside) {
        u_at[t * args.dv] = u[t];
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        device float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint t = keep + sg; t < hi; t += kGroups) {
          for (uint d = lane; d < args.dk; d += 32) {
            to[t * args.dk + d] = x_tile[t * D + d];
          }
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);  // tiles and old rows are read
  }
  if (uint(start + tokens) >= kBlock && is_inside) {
    store_state<PER>(s_at, width, args.dk, part, s[0]);
  }
}

template [[host_name("gdn_prefill_128")]] kernel decltype(gdn_prefill<128>) gdn_prefill<128>;
template [[host_name("gdn_prefill_256")]] kernel decltype(gdn_prefill<256>) gdn_prefill<256>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/gdn_prefill.metal"
# 1 "Shaders/gdn_prefill.metal"

# 1 "Shaders/gdn.h"
# 18 "Shaders/gdn.h"
# 1 "Shaders/args/gdn.h"



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
# 3 "Shaders/gdn_prefill.metal"

MSL_CONSTANT constexpr uint kColumns = 16;


struct NextBlock {
  float4 rows[8];
  float gate[kGateFloats / 128];
  float v[2];
};


METAL_FUNC void load_block(MSL_DEVICE const float* rows, MSL_DEVICE const float* gate, MSL_DEVICE const float* v, int row0,
                           int tokens, uint num_columns, uint tid, MSL_CONSTANT pagoda_args::Gdn& args,
                           MSL_THREAD NextBlock& to) {
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    to.rows[i] = *(MSL_DEVICE const float4*)(rows + 4 * (tid + 128 * i));
  }
#pragma unroll
  for (uint i = 0; i < kGateFloats / 128; ++i) {
    to.gate[i] = gate[tid + 128 * i];
  }
#pragma unroll
  for (uint i = 0; i < 2; ++i) {

    const int row = clamp(row0 + int(tid / kColumns + 8 * i), 0, tokens - 1);
    to.v[i] = v[long(row) * args.v_stride + clamp(tid % kColumns, 0u, num_columns - 1)];
  }
}


template <uint D>

MSL_KERNEL void gdn_prefill(MSL_DEVICE const float* v ,
                        MSL_DEVICE const int* cu_seqlens ,
                        MSL_DEVICE const int* context_lens ,
                        MSL_DEVICE const int* state_slots ,
                        MSL_DEVICE const float* rows ,
                        MSL_DEVICE const float* gates ,
                        MSL_DEVICE float* state ,
                        MSL_DEVICE float* k_rows ,
                        MSL_DEVICE float* u_rows ,
                        MSL_DEVICE float* g_rows ,
                        MSL_DEVICE float* out ,
                        MSL_CONSTANT pagoda_args::Gdn& args ,
                        uint3 tg ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  constexpr uint PER = D / kSplit;
  MSL_TG_VAR(1, x_tile, [32*128], float)
  MSL_TG_VAR(2, gate, [kGateFloats], float)
  MSL_TG_VAR(3, v_tile, [kBlock*kColumns], float)

  const uint head = tg.y;
  const int begin = cu_seqlens[tg.z];
  const int tokens = cu_seqlens[tg.z + 1] - begin;
  if (tokens == 1) {
    return;
  }
  const int start = (context_lens[tg.z] - tokens) % int(kBlock);
  const uint blocks = (uint(start + tokens) + kBlock - 1) / kBlock;
  const uint last_rows = uint(start + tokens) - (blocks - 1) * kBlock;
  const long slot = state_slots[tg.z];
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint tile_column = sg * 4 + lane / kSplit;
  const uint num_columns = min(kColumns, args.dv - tg.x * kColumns);
  const bool is_inside = tile_column < num_columns;
  const uint column = tg.x * kColumns + min(tile_column, num_columns - 1);
  const uint panel = column / kPanel * kPanel;
  const uint width = min(kPanel, args.dv - panel);

  MSL_DEVICE float* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + panel * args.dk +
                       (column - panel);
  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  MSL_DEVICE const float* v_at = v + long(begin) * args.v_stride + head * args.v_head_stride + tg.x * kColumns;
  const long first = first_block(cu_seqlens, tg.z);
  MSL_DEVICE const float* k_from = rows + (first * args.k_heads + k_head) * 2 * kBlock * D;
  MSL_DEVICE const float* gate_from = gates + (first * args.v_heads + head) * kGateFloats;
  const long k_step = long(args.k_heads) * 2 * kBlock * D;
  const long gate_step = long(args.v_heads) * kGateFloats;

  float s[1][PER];
  load_state<PER>((MSL_DEVICE const float*)(s_at), width, args.dk, part, s[0]);
  NextBlock next;
  load_block(k_from, gate_from, v_at, -start, tokens, num_columns, tid, args, next);

)msl"
R"msl(  for (uint block = 0; block < blocks; ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    MSL_DEVICE const float* q_from = k_from + kBlock * D;
#pragma unroll
    for (uint i = 0; i < 8; ++i) {
      *(MSL_THREADGROUP float4*)(x_tile + 4 * (tid + 128 * i)) = next.rows[i];
    }
#pragma unroll
    for (uint i = 0; i < kGateFloats / 128; ++i) {
      gate[tid + 128 * i] = next.gate[i];
    }
    v_tile[tid] = next.v[0];
    v_tile[tid + 128] = next.v[1];
    threadgroup_barrier(mem_flags::mem_threadgroup);

    if (block + 1 < blocks) {
      k_from += k_step;
      gate_from += gate_step;
      load_block(k_from, gate_from, v_at, row0 + int(kBlock), tokens, num_columns, tid, args, next);
    }

    float acc[kBlock];
#pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      float k[PER];
      float q[PER];
      load_part<PER>((MSL_THREADGROUP const float*)(x_tile + t * D), part, k);
      if (D == 128) {
        load_part<PER>((MSL_THREADGROUP const float*)(x_tile + (kBlock + t) * 128), part, q);
      } else {
#pragma unroll
        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(MSL_DEVICE const float4*)(q_from + t * D + dim_of(part, i));
          q[i] = f.x;
          q[i + 1] = f.y;
          q[i + 2] = f.z;
          q[i + 3] = f.w;
        }
      }
      const float y = state_times<1, PER>(s, k, q, lane);
      acc[t] = begin_row(kind, gate[kDecays + t], y, v_tile[t * kColumns + tile_column]);
      keep_loads_here();
    }


    float u[kBlock];
#pragma unroll
    for (uint r = 0; r < kBlock; ++r) {
      u[r] = simd_shuffle(acc[r] * gate[kBetas + r], ushort(lane & ~4u));
      if (r < lo) {
        u[r] = u_at[r * args.dv];
      }
#pragma unroll
      for (uint t4 = 0; t4 < kBlock; t4 += 4) {
        const float4 c4 =
            *(MSL_THREADGROUP const float4*)(gate + kCoefficients + (kind * kBlock + r) * kBlock + t4);
        const float c[4] = {c4.x, c4.y, c4.z, c4.w};
#pragma unroll
        for (uint j = 0; j < 4; ++j) {

          if (t4 + j >= r) {
            acc[t4 + j] = fma(c[j], u[r], acc[t4 + j]);
          }
        }
      }
      keep_loads_here();
    }

#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const uint t = 4 * i + part % 4;
      const float low = part % 2 == 0 ? acc[4 * i] : acc[4 * i + 1];
      const float high = part % 2 == 0 ? acc[4 * i + 2] : acc[4 * i + 3];
      if (kind == 1 && t >= lo && t < hi && is_inside) {
        out[long(begin + row0 + int(t)) * args.out_stride + head * args.out_head_stride + column] =
            part % 4 < 2 ? low : high;
      }
    }

    if (hi == kBlock) {
      scale_state<PER>(s[0], gate[kDecays + kBlock - 1]);
#pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        float k[PER];
        load_part<PER>((MSL_THREADGROUP const float*)(x_tile + r * D), part, k);
        add_row<PER>(s[0], k, gate[kWeights + r] * u[r]);
        keep_loads_here();
      }
    }


    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
#pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kSplit == part && is_inside) {
        u_at[t * args.dv] = u[t];
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        MSL_DEVICE float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint t = keep + sg; t < hi; t += kGroups) {
          for (uint d = lane; d < args.dk; d += 32) {
            to[t * args.dk + d] = x_tile[t * D + d];
          }
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  }
  if (uint(start + tokens) >= kBlock && is_inside) {
    store_state<PER>(s_at, width, args.dk, part, s[0]);
  }
}





# 1 "gdn_prefill.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_prefill_128)
extern "C" __global__ void __launch_bounds__(128) gdn_prefill_128(const float* v, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* rows, const float* gates, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Gdn args) {
  gdn_prefill<128>(v, cu_seqlens, context_lens, state_slots, rows, gates, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_prefill_256)
extern "C" __global__ void __launch_bounds__(128) gdn_prefill_256(const float* v, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* rows, const float* gates, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Gdn args) {
  gdn_prefill<256>(v, cu_seqlens, context_lens, state_slots, rows, gates, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
