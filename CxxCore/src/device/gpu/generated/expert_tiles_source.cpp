// The text of expert_tiles.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_tiles_source() noexcept {
  return {"expert_tiles",
R"msl(#pragma METAL fp contract(off)
// expert_tiles: the rows of a mixture's experts in tiles of up to eight of one expert, which expert_matmul takes.
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

constant constexpr uint kThreads = 256;
constant constexpr uint kMaxExperts = 4096;
constant constexpr uint kRows = 8;  // of a tile, here and in expert_matmul

// An id that is no expert counts as the last: nothing outside of the weights is ever read.
METAL_FUNC uint expert_of(device const int* ids, constant pagoda_args::ExpertTiles& args, uint token, uint j) {
  return min(uint(ids[long(token) * args.ids_stride + j]), args.num_experts - 1);
}

// order: rows of out by expert. tiles: [max_tiles, 4], an expert, the place of its first row in order, how many (0 from
// the last tile on). A thread has a run of experts to itself. Grid: [1]
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_tiles(device const int* ids [[buffer(0)]],
                         device uint* order [[buffer(1)]],
                         device uint* tiles [[buffer(2)]],
                         constant pagoda_args::ExpertTiles& args [[buffer(3)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  threadgroup uint counts[kMaxExperts];  // rows of an expert, then the place of its next one
  threadgroup uint thread_rows[kThreads];
  threadgroup uint thread_tiles[kThreads];
  const uint each = (args.num_experts + kThreads - 1) / kThreads;
  const uint begin = tid * each;
  for (uint e = begin; e < begin + each; ++e) {
    counts[e] = 0;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        counts[e] += 1;
      }
    }
  }
  uint num_rows = 0;
  uint num_tiles = 0;
  for (uint e = begin; e < begin + each; ++e) {
    num_rows += counts[e];
    num_tiles += (counts[e] + kRows - 1) / kRows;
  }
  thread_rows[tid] = num_rows;
  thread_tiles[tid] = num_tiles;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint place = 0;
  uint tile = 0;
  uint all_tiles = 0;
  for (uint i = 0; i < kThreads; ++i) {
    place += i < tid ? thread_rows[i] : 0;
    tile += i < tid ? thread_tiles[i] : 0;
    all_tiles += thread_tiles[i];
  }
  for (uint e = begin; e < begin + each; ++e) {
    const uint count = counts[e];
    counts[e] = place;
    for (uint i = 0; i < count; i += kRows) {
      tiles[tile * 4] = e;
      tiles[tile * 4 + 1] = place + i;
      tiles[tile * 4 + 2] = min(kRows, count - i);
      ++tile;
    }
    place += count;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        order[counts[e]] = token * args.chosen + j;
        counts[e] += 1;
      }
    }
  }
  for (uint i = all_tiles + tid; i < args.max_tiles; i += kThreads) {
    tiles[i * 4 + 2] = 0;
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/expert_tiles.metal"
# 1 "Shaders/expert_tiles.metal"

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
# 3 "Shaders/expert_tiles.metal"
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
# 4 "Shaders/expert_tiles.metal"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kMaxExperts = 4096;
MSL_CONSTANT constexpr uint kRows = 8;


METAL_FUNC uint expert_of(MSL_DEVICE const int* ids, MSL_CONSTANT pagoda_args::ExpertTiles& args, uint token, uint j) {
  return min(uint(ids[long(token) * args.ids_stride + j]), args.num_experts - 1);
}




MSL_KERNEL void expert_tiles(MSL_DEVICE const int* ids ,
                         MSL_DEVICE uint* order ,
                         MSL_DEVICE uint* tiles ,
                         MSL_CONSTANT pagoda_args::ExpertTiles& args ,
                         uint tid ) {
  MSL_TG_VAR(1, counts, [kMaxExperts], uint)
  MSL_TG_VAR(2, thread_rows, [kThreads], uint)
  MSL_TG_VAR(3, thread_tiles, [kThreads], uint)
  const uint each = (args.num_experts + kThreads - 1) / kThreads;
  const uint begin = tid * each;
  for (uint e = begin; e < begin + each; ++e) {
    counts[e] = 0;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        counts[e] += 1;
      }
    }
  }
  uint num_rows = 0;
  uint num_tiles = 0;
  for (uint e = begin; e < begin + each; ++e) {
    num_rows += counts[e];
    num_tiles += (counts[e] + kRows - 1) / kRows;
  }
  thread_rows[tid] = num_rows;
  thread_tiles[tid] = num_tiles;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint place = 0;
  uint tile = 0;
  uint all_tiles = 0;
  for (uint i = 0; i < kThreads; ++i) {
    place += i < tid ? thread_rows[i] : 0;
    tile += i < tid ? thread_tiles[i] : 0;
    all_tiles += thread_tiles[i];
  }
  for (uint e = begin; e < begin + each; ++e) {
    const uint count = counts[e];
    counts[e] = place;
    for (uint i = 0; i < count; i += kRows) {
      tiles[tile * 4] = e;
      tiles[tile * 4 + 1] = place + i;
      tiles[tile * 4 + 2] = min(kRows, count - i);
      ++tile;
    }
    place += count;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        order[counts[e]] = token * args.chosen + j;
        counts[e] += 1;
      }
    }
  }
  for (uint i = all_tiles + tid; i < args.max_tiles; i += kThreads) {
    tiles[i * 4 + 2] = 0;
  }
}


# 1 "expert_tiles.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_tiles)
extern "C" __global__ void __launch_bounds__(256) expert_tiles(const int* ids, uint* order, uint* tiles, const pagoda_args::ExpertTiles args) {
  expert_tiles(ids, order, tiles, args, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
