// The text of gdn_prefill.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gdn_prefill_source() noexcept {
  return {"gdn_prefill",
R"msl(// gdn_prefill: the gated delta rule for sequences with several tokens, after gdn_prepare; gdn.h has the formulas.
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

// Walks the blocks of a sequence with S in registers. Grid: [panels, v_heads, sequences]
template <uint PER>
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
  threadgroup float parts[kBlock * 2 * kQuarters * kPanel];  // S^T k and S^T q by row and quarter
  threadgroup float gate[kGateFloats];

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
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint column = min(lane, width - 1);
  const uint d0 = sg * args.quarter;
  const uint count = min(args.quarter, args.dk - min(args.dk, d0));

  device float* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk + column;
  device float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + first + column;
  float s[PER];
  load_state<PER>((device const float*)(s_at), width, d0, count, s);

  for (uint block = 0; block < blocks; ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    const long index = first_block(cu_seqlens, tg.z) + block;
    device const float* kn = rows + (index * args.k_heads + k_head) * 2 * kBlock * args.dk;
    device const float* qn = kn + kBlock * args.dk;
    device const float* gate_from = gates + (index * args.v_heads + head) * kGateFloats;
    for (uint i = tid; i < kGateFloats; i += 128) {
      gate[i] = gate_from[i];
    }
)msl"
R"msl(    for (uint t = lo; t < hi; ++t) {
      float y_k = 0.0f;
      float y_q = 0.0f;
      #pragma unroll
      for (uint i = 0; i < PER; ++i) {
        if (i < count) {
          y_k = fma(s[i], kn[t * args.dk + d0 + i], y_k);
          y_q = fma(s[i], qn[t * args.dk + d0 + i], y_q);
        }
      }
      parts[((t * 2) * kQuarters + sg) * kPanel + lane] = y_k;
      parts[((t * 2 + 1) * kQuarters + sg) * kPanel + lane] = y_q;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    // Every simdgroup makes all rows of u, which it needs for its quarter of S; each writes a quarter of the outputs.
    float u[kBlock];
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      u[t] = 0.0f;
      if (t < lo) {
        u[t] = u_at[t * args.dv];
      } else if (t < hi) {
        const long token = begin + row0 + int(t);
        const float decay = precise::exp(gate[t]);
        float u_t = fma(-decay, sum_quarters(parts + t * 2 * kQuarters * kPanel + lane, kPanel),
                        v[token * args.v_stride + head * args.v_head_stride + first + column]);
        float o_t = decay * sum_quarters(parts + (t * 2 + 1) * kQuarters * kPanel + lane, kPanel);
        #pragma unroll
        for (uint r = 0; r < t; ++r) {
          u_t = fma(gate[kGates + r * kBlock + t], u[r], u_t);
          o_t = fma(gate[kGates + kBlock * kBlock + r * kBlock + t], u[r], o_t);
        }
        u[t] = u_t * gate[kBlock + t];
        if (t % kQuarters == sg && lane < width) {
          out[token * args.out_stride + head * args.out_head_stride + first + lane] =
              fma(gate[kGates + kBlock * kBlock + t * kBlock + t], u[t], o_t);
        }
      }
    }

    if (hi == kBlock) {
      scale_state<PER>(s, precise::exp(gate[kBlock - 1]));
      #pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        add_row<PER>(s, kn + r * args.dk + d0, count, gate[2 * kBlock + r] * u[r]);
      }
    }
    // A place keeps the last row that was put there: those of the last block, and before it those of the last but one.
    // What was there before this step is not written again: other simdgroups may still read it.
    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
    #pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kQuarters == sg && lane < width) {
        u_at[t * args.dv] = u[t];
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        device float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint i = keep * args.dk + tid; i < hi * args.dk; i += 128) {
          to[i] = kn[i];
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);  // parts, gates and old rows are read
  }
  if (uint(start + tokens) >= kBlock && lane < width) {
    store_state<PER>(s_at, width, d0, count, s);
  }
}

template [[host_name("gdn_prefill_128")]] kernel decltype(gdn_prefill<32>) gdn_prefill<32>;
template [[host_name("gdn_prefill_256")]] kernel decltype(gdn_prefill<64>) gdn_prefill<64>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/gdn_prefill.metal"
# 1 "Shaders/gdn_prefill.metal"

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
# 3 "Shaders/gdn_prefill.metal"


template <uint PER>

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
  MSL_TG_VAR(1, parts, [kBlock*2*kQuarters*kPanel], float)
  MSL_TG_VAR(2, gate, [kGateFloats], float)

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
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint column = min(lane, width - 1);
  const uint d0 = sg * args.quarter;
  const uint count = min(args.quarter, args.dk - min(args.dk, d0));

  MSL_DEVICE float* s_at =
      state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk + column;
  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + first + column;
  float s[PER];
  load_state<PER>((MSL_DEVICE const float*)(s_at), width, d0, count, s);

  for (uint block = 0; block < blocks; ++block) {
    const int row0 = int(block * kBlock) - start;
    const uint lo = uint(max(0, -row0));
    const uint hi = uint(min(int(kBlock), tokens - row0));
    const long index = first_block(cu_seqlens, tg.z) + block;
    MSL_DEVICE const float* kn = rows + (index * args.k_heads + k_head) * 2 * kBlock * args.dk;
    MSL_DEVICE const float* qn = kn + kBlock * args.dk;
    MSL_DEVICE const float* gate_from = gates + (index * args.v_heads + head) * kGateFloats;
    for (uint i = tid; i < kGateFloats; i += 128) {
      gate[i] = gate_from[i];
    }
    for (uint t = lo; t < hi; ++t) {
      float y_k = 0.0f;
      float y_q = 0.0f;
#pragma unroll
      for (uint i = 0; i < PER; ++i) {
        if (i < count) {
          y_k = fma(s[i], kn[t * args.dk + d0 + i], y_k);
          y_q = fma(s[i], qn[t * args.dk + d0 + i], y_q);
        }
      }
      parts[((t * 2) * kQuarters + sg) * kPanel + lane] = y_k;
      parts[((t * 2 + 1) * kQuarters + sg) * kPanel + lane] = y_q;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);


    float u[kBlock];
#pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      u[t] = 0.0f;
      if (t < lo) {
        u[t] = u_at[t * args.dv];
      } else if (t < hi) {
        const long token = begin + row0 + int(t);
        const float decay = precise::exp(gate[t]);
        float u_t = fma(-decay, sum_quarters(parts + t * 2 * kQuarters * kPanel + lane, kPanel),
                        v[token * args.v_stride + head * args.v_head_stride + first + column]);
        float o_t = decay * sum_quarters(parts + (t * 2 + 1) * kQuarters * kPanel + lane, kPanel);
#pragma unroll
        for (uint r = 0; r < t; ++r) {
          u_t = fma(gate[kGates + r * kBlock + t], u[r], u_t);
          o_t = fma(gate[kGates + kBlock * kBlock + r * kBlock + t], u[r], o_t);
        }
        u[t] = u_t * gate[kBlock + t];
        if (t % kQuarters == sg && lane < width) {
          out[token * args.out_stride + head * args.out_head_stride + first + lane] =
              fma(gate[kGates + kBlock * kBlock + t * kBlock + t], u[t], o_t);
        }
      }
    }

    if (hi == kBlock) {
      scale_state<PER>(s, precise::exp(gate[kBlock - 1]));
#pragma unroll
      for (uint r = 0; r < kBlock; ++r) {
        add_row<PER>(s, kn + r * args.dk + d0, count, gate[2 * kBlock + r] * u[r]);
      }
    }


    const uint keep = block + 1 == blocks ? lo : (block + 2 == blocks ? max(last_rows, lo) : kBlock);
#pragma unroll
    for (uint t = 0; t < kBlock; ++t) {
      if (t >= keep && t < hi && t % kQuarters == sg && lane < width) {
        u_at[t * args.dv] = u[t];
      }
    }
    if (tg.x == 0) {
      if (head % group == 0) {
        MSL_DEVICE float* to = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
        for (uint i = keep * args.dk + tid; i < hi * args.dk; i += 128) {
          to[i] = kn[i];
        }
      }
      if (tid >= keep && tid < hi) {
        g_rows[slot * args.g_rows_slot_stride + head * kBlock + tid] = gate[tid];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  }
  if (uint(start + tokens) >= kBlock && lane < width) {
    store_state<PER>(s_at, width, d0, count, s);
  }
}





# 1 "gdn_prefill.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_prefill_128)
extern "C" __global__ void __launch_bounds__(128) gdn_prefill_128(const float* v, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* rows, const float* gates, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Gdn args) {
  gdn_prefill<32>(v, cu_seqlens, context_lens, state_slots, rows, gates, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gdn_prefill_256)
)msl"
R"msl(extern "C" __global__ void __launch_bounds__(128) gdn_prefill_256(const float* v, const int* cu_seqlens, const int* context_lens, const int* state_slots, const float* rows, const float* gates, float* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Gdn args) {
  gdn_prefill<64>(v, cu_seqlens, context_lens, state_slots, rows, gates, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
