// The text of gdn_prepare.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gdn_prepare_source() noexcept {
  return {"gdn_prepare",
R"msl(// gdn_prepare: what blocks of several tokens have without the state, for gdn_prefill; gdn.h has the formulas.
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

// Arguments of gdn_*.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;  // dense within a slot
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;   // at most 256 each
  uint quarter;  // dims of a key that are summed together: dk / 4, rounded up
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Gdn) == 144, "host and kernel agree");

}  // namespace pagoda_args
// Helpers that several kernels share: sums in one order, the nonlinear functions, tiles, sequences.
// Text of the portable subset: Metal compiles it as it is, mslc translates it for CPU and CUDA. No fast math.

#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>

using namespace metal;

// Finite stand-in for minus infinity.
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

// All that does not need S, for all blocks at once. rows: [blocks, k_heads, 2, 16, dk], normalised keys and queries;
// gates: [blocks, v_heads, kGateFloats]. Rows of the block before this step are copied; rows after its end are zero.
// Grid: [blocks, k_heads]
[[max_total_threads_per_threadgroup(128)]]
kernel void gdn_prepare(device const float* q [[buffer(0)]],
                        device const float* k [[buffer(1)]],
                        device const float* a [[buffer(2)]],
                        device const float* b [[buffer(3)]],
                        device const float* a_log [[buffer(4)]],
                        device const float* dt_bias [[buffer(5)]],
                        device const int* cu_seqlens [[buffer(6)]],
                        device const int* context_lens [[buffer(7)]],
                        device const int* state_slots [[buffer(8)]],
                        device const float* k_rows [[buffer(9)]],
                        device const float* g_rows [[buffer(10)]],
                        device float* rows [[buffer(11)]],
                        device float* gates [[buffer(12)]],
                        constant pagoda_args::Gdn& args [[buffer(13)]],
                        uint2 tg [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float dots[2 * kBlock * kBlock];  // k_s . k_t and k_s . q_t at [s][t]
  threadgroup float g_tile[kBlock];

  uint seq = 0;
  uint end = args.num_sequences;
  while (end - seq > 1) {
    const uint middle = (seq + end) / 2;
    if (first_block(cu_seqlens, middle) <= tg.x) {
      seq = middle;
    } else {
      end = middle;
    }
  }
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int start = (context_lens[seq] - tokens) % int(kBlock);  // rows of the open block before this step
  const int row0 = int((tg.x - first_block(cu_seqlens, seq)) * kBlock) - start;  // the block's row 0 in this step
  if (tokens == 1 || row0 >= tokens) {
    return;
  }
  const long slot = state_slots[seq];
  const uint lo = uint(max(0, -row0));                        // the block's rows of this step: lo .. hi
  const uint hi = uint(min(int(kBlock), tokens - row0));
  device float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * args.dk;
  device float* qn = kn + kBlock * args.dk;
  device const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  for (uint t = sg; t < kBlock; t += kQuarters) {
    if (t >= lo && t < hi) {
      const long token = begin + row0 + int(t);
      device const float* k_in = k + token * args.k_stride + tg.y * args.k_head_stride;
      device const float* q_in = q + token * args.q_stride + tg.y * args.q_head_stride;
)msl"
R"msl(      const float k_inv = inverse_norm(k_in, args.dk, lane);
      const float q_inv = inverse_norm(q_in, args.dk, lane) * args.q_scale;
      for (uint d = lane; d < args.dk; d += 32) {
        kn[t * args.dk + d] = k_in[d] * k_inv;
        qn[t * args.dk + d] = q_in[d] * q_inv;
      }
    } else {
      for (uint d = lane; d < args.dk; d += 32) {
        kn[t * args.dk + d] = t < lo ? k_old[t * args.dk + d] : 0.0f;
        qn[t * args.dk + d] = 0.0f;
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_device);

  for (uint i = sg; i < kBlock * kBlock; i += kQuarters) {
    const uint s = i / kBlock;
    const uint t = i % kBlock;
    // Only saves work: no other dot is used below.
    if (s <= t && t >= lo && t < hi) {
      float dot_k = 0.0f;
      float dot_q = 0.0f;
      for (uint d = lane; d < args.dk; d += 32) {
        const float kr = kn[s * args.dk + d];
        dot_k = fma(kr, kn[t * args.dk + d], dot_k);
        dot_q = fma(kr, qn[t * args.dk + d], dot_q);
      }
      dot_k = simd_sum(dot_k);
      dot_q = simd_sum(dot_q);
      if (lane == 0) {
        dots[i] = dot_k;
        dots[kBlock * kBlock + i] = dot_q;
      }
    }
  }

  const uint group = args.v_heads / args.k_heads;
  for (uint j = 0; j < group; ++j) {
    const uint head = tg.y * group + j;
    device float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    device const float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
    if (tid == 0) {
      float g = 0.0f;
      for (uint t = 0; t < kBlock; ++t) {
        if (t < lo) {
          g = g_old[t];
        } else if (t < hi) {
          g = next_g(g, a + long(begin + row0 + int(t)) * args.a_stride, a_log, dt_bias, head);
        }
        g_tile[t] = g;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < kBlock) {
      const uint t = tid;
      to[t] = g_tile[t];
      float beta = 0.0f;
      if (t >= lo && t < hi) {
        beta = sigmoid(b[long(begin + row0 + int(t)) * args.b_stride + head]);
      }
      to[kBlock + t] = beta;
      to[2 * kBlock + t] = precise::exp(g_tile[kBlock - 1] - g_tile[t]);
    }
    for (uint i = tid; i < kBlock * kBlock; i += 128) {
      const uint s = i / kBlock;
      const uint t = i % kBlock;
      const bool is_used = s <= t && t >= lo && t < hi;
      float c_u = 0.0f;
      float c_o = 0.0f;
      if (is_used) {
        c_u = u_coefficient(dots[i], g_tile[t], g_tile[s]);
        c_o = o_coefficient(dots[kBlock * kBlock + i], g_tile[t], g_tile[s]);
      }
      to[kGates + i] = c_u;
      to[kGates + kBlock * kBlock + i] = c_o;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/gdn_prepare.metal"
# 1 "Shaders/gdn_prepare.metal"

# 1 "Shaders/gdn.h"
# 17 "Shaders/gdn.h"
# 1 "Shaders/args/gdn.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/gdn.h"

namespace pagoda_args {

struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint quarter;
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Gdn) == 144, "host and kernel agree");

}
# 18 "Shaders/gdn.h"
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
# 19 "Shaders/gdn.h"

MSL_CONSTANT constexpr uint kBlock = 16;
MSL_CONSTANT constexpr uint kPanel = 32;
MSL_CONSTANT constexpr uint kQuarters = 4;
MSL_CONSTANT constexpr float kNormEps = 1.0e-6f;

METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }


METAL_FUNC float lane_dot(MSL_DEVICE const float* x, MSL_DEVICE const float* y, uint dk, uint lane) {
  float sum = 0.0f;
  for (uint d = lane; d < dk; d += 32) {
    sum = fma(x[d], y[d], sum);
  }
  return simd_sum(sum);
}


METAL_FUNC float inverse_norm(MSL_DEVICE const float* x, uint dk, uint lane) {
  return precise::rsqrt(lane_dot(x, x, dk, lane) + kNormEps);
}


METAL_FUNC float next_g(float before, MSL_DEVICE const float* a, MSL_DEVICE const float* a_log, MSL_DEVICE const float* dt_bias,
                        uint head) {
  return fma(-precise::exp(a_log[head]), softplus(a[head] + dt_bias[head]), before);
}


METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }

METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }


template <uint PER>
METAL_FUNC void load_state(MSL_DEVICE const float* at, uint width, uint d0, uint count, MSL_THREAD float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = 0.0f;
    if (i < count) {
      s[i] = at[(d0 + i) * width];
    }
  }
}

template <uint PER>
METAL_FUNC void store_state(MSL_DEVICE float* at, uint width, uint d0, uint count, MSL_THREAD const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    if (i < count) {
      at[(d0 + i) * width] = s[i];
    }
  }
}


template <uint PER>
METAL_FUNC void scale_state(MSL_THREAD float (&s)[PER], float decay) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}


template <uint PER>
METAL_FUNC void add_row(MSL_THREAD float (&s)[PER], MSL_DEVICE const float* k, uint count, float weighted_u) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {

    if (i < count) {
      s[i] = fma(k[i], weighted_u, s[i]);
    }
  }
}

METAL_FUNC float sum_quarters(MSL_THREADGROUP const float* parts, uint stride) {
  return ((parts[0] + parts[stride]) + parts[2 * stride]) + parts[3 * stride];
}


METAL_FUNC uint first_block(MSL_DEVICE const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }


MSL_CONSTANT constexpr uint kGates = 3 * kBlock;
MSL_CONSTANT constexpr uint kGateFloats = kGates + 2 * kBlock * kBlock;
# 3 "Shaders/gdn_prepare.metal"





MSL_KERNEL void gdn_prepare(MSL_DEVICE const float* q ,
                        MSL_DEVICE const float* k ,
                        MSL_DEVICE const float* a ,
                        MSL_DEVICE const float* b ,
                        MSL_DEVICE const float* a_log ,
                        MSL_DEVICE const float* dt_bias ,
                        MSL_DEVICE const int* cu_seqlens ,
                        MSL_DEVICE const int* context_lens ,
                        MSL_DEVICE const int* state_slots ,
                        MSL_DEVICE const float* k_rows ,
                        MSL_DEVICE const float* g_rows ,
                        MSL_DEVICE float* rows ,
                        MSL_DEVICE float* gates ,
                        MSL_CONSTANT pagoda_args::Gdn& args ,
                        uint2 tg ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  MSL_TG_VAR(1, dots, [2*kBlock*kBlock], float)
  MSL_TG_VAR(2, g_tile, [kBlock], float)

  uint seq = 0;
  uint end = args.num_sequences;
  while (end - seq > 1) {
    const uint middle = (seq + end) / 2;
    if (first_block(cu_seqlens, middle) <= tg.x) {
      seq = middle;
    } else {
      end = middle;
    }
  }
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int start = (context_lens[seq] - tokens) % int(kBlock);
  const int row0 = int((tg.x - first_block(cu_seqlens, seq)) * kBlock) - start;
  if (tokens == 1 || row0 >= tokens) {
    return;
  }
  const long slot = state_slots[seq];
  const uint lo = uint(max(0, -row0));
  const uint hi = uint(min(int(kBlock), tokens - row0));
  MSL_DEVICE float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * args.dk;
  MSL_DEVICE float* qn = kn + kBlock * args.dk;
  MSL_DEVICE const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  for (uint t = sg; t < kBlock; t += kQuarters) {
    if (t >= lo && t < hi) {
      const long token = begin + row0 + int(t);
      MSL_DEVICE const float* k_in = k + token * args.k_stride + tg.y * args.k_head_stride;
      MSL_DEVICE const float* q_in = q + token * args.q_stride + tg.y * args.q_head_stride;
      const float k_inv = inverse_norm(k_in, args.dk, lane);
      const float q_inv = inverse_norm(q_in, args.dk, lane) * args.q_scale;
      for (uint d = lane; d < args.dk; d += 32) {
        kn[t * args.dk + d] = k_in[d] * k_inv;
        qn[t * args.dk + d] = q_in[d] * q_inv;
      }
    } else {
      for (uint d = lane; d < args.dk; d += 32) {
        kn[t * args.dk + d] = t < lo ? k_old[t * args.dk + d] : 0.0f;
        qn[t * args.dk + d] = 0.0f;
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_device);

  for (uint i = sg; i < kBlock * kBlock; i += kQuarters) {
    const uint s = i / kBlock;
    const uint t = i % kBlock;

    if (s <= t && t >= lo && t < hi) {
      float dot_k = 0.0f;
      float dot_q = 0.0f;
      for (uint d = lane; d < args.dk; d += 32) {
        const float kr = kn[s * args.dk + d];
        dot_k = fma(kr, kn[t * args.dk + d], dot_k);
        dot_q = fma(kr, qn[t * args.dk + d], dot_q);
      }
      dot_k = simd_sum(dot_k);
      dot_q = simd_sum(dot_q);
      if (lane == 0) {
        dots[i] = dot_k;
        dots[kBlock * kBlock + i] = dot_q;
      }
    }
  }

  const uint group = args.v_heads / args.k_heads;
  for (uint j = 0; j < group; ++j) {
    const uint head = tg.y * group + j;
    MSL_DEVICE float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    MSL_DEVICE const float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
    if (tid == 0) {
      float g = 0.0f;
      for (uint t = 0; t < kBlock; ++t) {
        if (t < lo) {
          g = g_old[t];
        } else if (t < hi) {
          g = next_g(g, a + long(begin + row0 + int(t)) * args.a_stride, a_log, dt_bias, head);
        }
        g_tile[t] = g;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < kBlock) {
      const uint t = tid;
      to[t] = g_tile[t];
      float beta = 0.0f;
      if (t >= lo && t < hi) {
        beta = sigmoid(b[long(begin + row0 + int(t)) * args.b_stride + head]);
      }
      to[kBlock + t] = beta;
      to[2 * kBlock + t] = precise::exp(g_tile[kBlock - 1] - g_tile[t]);
    }
    for (uint i = tid; i < kBlock * kBlock; i += 128) {
      const uint s = i / kBlock;
      const uint t = i % kBlock;
      const bool is_used = s <= t && t >= lo && t < hi;
      float c_u = 0.0f;
      float c_o = 0.0f;
      if (is_used) {
        c_u = u_coefficient(dots[i], g_tile[t], g_tile[s]);
        c_o = o_coefficient(dots[kBlock * kBlock + i], g_tile[t], g_tile[s]);
      }
      to[kGates + i] = c_u;
      to[kGates + kBlock * kBlock + i] = c_o;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


# 1 "gdn_prepare.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_prepare)
extern "C" __global__ void __launch_bounds__(128) gdn_prepare(const float* q, const float* k, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* k_rows, const float* g_rows, float* rows, float* gates, const pagoda_args::Gdn args) {
  gdn_prepare(q, k, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, k_rows, g_rows, rows, gates, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
