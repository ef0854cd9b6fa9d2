// The text of route_experts.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource route_experts_source() noexcept {
  return {"route_experts",
R"msl(#pragma METAL fp contract(off)
// route_experts: the experts of each token with the highest scores, of equal ones the lower index, and their weights.
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
// Floats as unsigned numbers in the same order; kernels pick by these, for which infinities and NaNs are numbers too.

// Both zeros have one key: they are equal, and the lower id counts.
METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

constant constexpr uint kMinusInfinityKey = 0x007fffffu;
constant constexpr uint kInfinityKey = 0xff800000u;  // NaNs lie above it and below the other
// Arguments of route_experts, expert_matmul and combine_experts, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;  // elements from one token to the next
  uint num_experts;
  uint chosen;  // experts of a token
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;  // at most 32 groups
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");

struct ExpertTiles {
  long ids_stride;  // elements from one token to the next
  uint tokens;
  uint chosen;
  uint num_experts;
  uint max_tiles;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");

struct ExpertMatmul {
  long x_stride, out_stride;  // elements from one row to the next
  uint x_share;               // rows of out that a row of x is for: all of a token, or one
  uint cols;                  // of x
  uint padded_cols;           // of the weight
  uint out_cols;              // N of an expert, or N / 2 with silu_mul
  uint expert_rows;           // N
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");

struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;  // elements from one row to the next
  uint cols;
  uint chosen;
  uint has_shared;  // 0: a mixture without a shared expert; 2: one without a gate
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");

}  // namespace pagoda_args

constant constexpr uint kMaxChosen = 64;

// What an expert is chosen by. Softmax keeps the order of logits.
METAL_FUNC float choice_of(device const float* logits, device const float* bias, uint e,
                           constant pagoda_args::RouteExperts& args) {
  if (args.is_sigmoid == 0) {
    return logits[e];
  }
  return sigmoid(logits[e]) + (args.has_bias != 0 ? bias[e] : 0.0f);
}

// The best groups, as bits: a group is as good as its best expert, or with a sigmoid as the sum of its best two. A lane
// for each group.
METAL_FUNC uint best_groups(device const float* logits, device const float* bias, uint lane,
                            constant pagoda_args::RouteExperts& args) {
  const uint size = args.num_experts / args.num_groups;
  float first = kNegBig;
  float second = kNegBig;
  const uint group = lane < args.num_groups ? lane : 0;
  for (uint e = group * size; e < (group + 1) * size; ++e) {
    const float value = choice_of(logits, bias, e, args);
    second = max(second, min(first, value));
    first = max(first, value);
  }
  const uint key = key_of(args.is_sigmoid != 0 ? first + second : first);
  bool is_left = lane < args.num_groups;
  uint kept = 0;
  for (uint i = 0; i < args.groups_per_token; ++i) {
    const uint best = simd_max(is_left ? key : 0u);
    const uint winner = simd_min(is_left && key == best ? lane : 32u);
    kept |= 1u << winner;
    is_left = is_left && lane != winner;
  }
  return kept;
}

// Each search takes the highest after the last one found, so no list of taken experts is kept.
// Grid: [tokens], one simdgroup each
[[max_total_threads_per_threadgroup(32)]]
kernel void route_experts(device const float* logits [[buffer(0)]],
                          device const float* bias [[buffer(1)]],
                          device int* ids [[buffer(2)]],
                          device float* weights [[buffer(3)]],
                          constant pagoda_args::RouteExperts& args [[buffer(4)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float chosen[kMaxChosen];
  device const float* from = logits + long(token) * args.logits_stride;
  const uint group_size = args.num_experts / args.num_groups;
  uint kept = 1;
  // Only saves work: of one group it is the best.
  if (args.num_groups > 1) {
    kept = best_groups(from, bias, lane, args);
  }
  uint last_key = 0xffffffffu;
  int last = -1;
  for (uint j = 0; j < args.chosen; ++j) {
    uint best = 0;
    int found = int(args.num_experts);
    for (int e = int(lane); e < int(args.num_experts); e += 32) {
      const uint key = key_of(choice_of(from, bias, uint(e), args));
      const bool is_candidate = ((kept >> (uint(e) / group_size)) & 1u) != 0;
      const bool is_left = is_candidate && (key < last_key || (key == last_key && e > last));
      const bool is_better = is_left && (key > best || found == int(args.num_experts));
      best = is_better ? key : best;
      found = is_better ? e : found;
    }
    last_key = simd_max(best);
    last = simd_min(best == last_key ? found : int(args.num_experts));
    if (lane == 0) {
      ids[long(token) * args.ids_stride + j] = last;
      chosen[j] = from[last];
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (args.is_sigmoid != 0) {
    float sum = 0.0f;
    for (uint j = 0; j < args.chosen; ++j) {
      sum += sigmoid(chosen[j]);
    }
    for (uint j = lane; j < args.chosen; j += 32) {
      const float share = sigmoid(chosen[j]);
      weights[long(token) * args.weights_stride + j] = (args.normalise != 0 ? share / sum : share) * args.scale;
    }
    return;
  }
  const float largest = chosen[0];
  float sum = 0.0f;
  if (args.normalise != 0) {
    for (uint j = 0; j < args.chosen; ++j) {
      sum += precise::exp(chosen[j] - largest);
    }
  } else {
    for (uint e = lane; e < args.num_experts; e += 32) {
      sum += precise::exp(from[e] - largest);
    }
    sum = simd_sum(sum);
  }
  for (uint j = lane; j < args.chosen; j += 32) {
    weights[long(token) * args.weights_stride + j] = precise::exp(chosen[j] - largest) / sum * args.scale;
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/route_experts.metal"
# 1 "Shaders/route_experts.metal"

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
# 3 "Shaders/route_experts.metal"
# 1 "Shaders/keys.h"




METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
# 4 "Shaders/route_experts.metal"
# 1 "Shaders/args/experts.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/experts.h"

namespace pagoda_args {

struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;
  uint num_experts;
  uint chosen;
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");

struct ExpertTiles {
  long ids_stride;
  uint tokens;
  uint chosen;
  uint num_experts;
  uint max_tiles;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");

struct ExpertMatmul {
  long x_stride, out_stride;
  uint x_share;
  uint cols;
  uint padded_cols;
  uint out_cols;
  uint expert_rows;
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");

struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;
  uint cols;
  uint chosen;
  uint has_shared;
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");

}
# 5 "Shaders/route_experts.metal"

MSL_CONSTANT constexpr uint kMaxChosen = 64;


METAL_FUNC float choice_of(MSL_DEVICE const float* logits, MSL_DEVICE const float* bias, uint e,
                           MSL_CONSTANT pagoda_args::RouteExperts& args) {
  if (args.is_sigmoid == 0) {
    return logits[e];
  }
  return sigmoid(logits[e]) + (args.has_bias != 0 ? bias[e] : 0.0f);
}



METAL_FUNC uint best_groups(MSL_DEVICE const float* logits, MSL_DEVICE const float* bias, uint lane,
                            MSL_CONSTANT pagoda_args::RouteExperts& args) {
  const uint size = args.num_experts / args.num_groups;
  float first = kNegBig;
  float second = kNegBig;
  const uint group = lane < args.num_groups ? lane : 0;
  for (uint e = group * size; e < (group + 1) * size; ++e) {
    const float value = choice_of(logits, bias, e, args);
    second = max(second, min(first, value));
    first = max(first, value);
  }
  const uint key = key_of(args.is_sigmoid != 0 ? first + second : first);
  bool is_left = lane < args.num_groups;
  uint kept = 0;
  for (uint i = 0; i < args.groups_per_token; ++i) {
    const uint best = simd_max(is_left ? key : 0u);
    const uint winner = simd_min(is_left && key == best ? lane : 32u);
    kept |= 1u << winner;
    is_left = is_left && lane != winner;
  }
  return kept;
}




MSL_KERNEL void route_experts(MSL_DEVICE const float* logits ,
                          MSL_DEVICE const float* bias ,
                          MSL_DEVICE int* ids ,
                          MSL_DEVICE float* weights ,
                          MSL_CONSTANT pagoda_args::RouteExperts& args ,
                          uint token ,
                          uint lane ) {
  MSL_TG_VAR(1, chosen, [kMaxChosen], float)
  MSL_DEVICE const float* from = logits + long(token) * args.logits_stride;
  const uint group_size = args.num_experts / args.num_groups;
  uint kept = 1;

  if (args.num_groups > 1) {
    kept = best_groups(from, bias, lane, args);
  }
  uint last_key = 0xffffffffu;
  int last = -1;
  for (uint j = 0; j < args.chosen; ++j) {
    uint best = 0;
    int found = int(args.num_experts);
    for (int e = int(lane); e < int(args.num_experts); e += 32) {
      const uint key = key_of(choice_of(from, bias, uint(e), args));
      const bool is_candidate = ((kept >> (uint(e) / group_size)) & 1u) != 0;
      const bool is_left = is_candidate && (key < last_key || (key == last_key && e > last));
      const bool is_better = is_left && (key > best || found == int(args.num_experts));
      best = is_better ? key : best;
      found = is_better ? e : found;
    }
    last_key = simd_max(best);
    last = simd_min(best == last_key ? found : int(args.num_experts));
    if (lane == 0) {
      ids[long(token) * args.ids_stride + j] = last;
      chosen[j] = from[last];
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (args.is_sigmoid != 0) {
    float sum = 0.0f;
    for (uint j = 0; j < args.chosen; ++j) {
      sum += sigmoid(chosen[j]);
    }
    for (uint j = lane; j < args.chosen; j += 32) {
      const float share = sigmoid(chosen[j]);
      weights[long(token) * args.weights_stride + j] = (args.normalise != 0 ? share / sum : share) * args.scale;
    }
    return;
  }
  const float largest = chosen[0];
  float sum = 0.0f;
  if (args.normalise != 0) {
    for (uint j = 0; j < args.chosen; ++j) {
      sum += precise::exp(chosen[j] - largest);
    }
  } else {
    for (uint e = lane; e < args.num_experts; e += 32) {
      sum += precise::exp(from[e] - largest);
    }
    sum = simd_sum(sum);
  }
  for (uint j = lane; j < args.chosen; j += 32) {
    weights[long(token) * args.weights_stride + j] = precise::exp(chosen[j] - largest) / sum * args.scale;
  }
}


# 1 "route_experts.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_route_experts)
extern "C" __global__ void __launch_bounds__(32) route_experts(const float* logits, const float* bias, int* ids, float* weights, const pagoda_args::RouteExperts args) {
  route_experts(logits, bias, ids, weights, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
