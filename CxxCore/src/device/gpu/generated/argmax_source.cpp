// The text of argmax.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource argmax_source() noexcept {
  return {"argmax",
R"msl(#pragma METAL fp contract(off)
// argmax: the lowest id among the highest logits of each row, as sampler/ picks it where only the highest counts. Parts
// of a row first, then what they found. A row that the sampler refuses (NaN, plus infinity, none above minus infinity)
// gives -1.
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
// Arguments of argmax, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct Argmax {
  long logits_stride;  // elements from one row to the next
  uint vocab;
  uint parts;      // of a row
  uint part_size;  // logits of a part; the last has the rest
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");

}  // namespace pagoda_args

constant constexpr uint kThreads = 256;
constant constexpr uint kRefused = 0xffffffffu;  // a key above all others: a comparison that met it keeps it

// The highest key of all threads and the lowest id that has it, in keys[0] and ids[0] for thread 0.
METAL_FUNC void take_highest(threadgroup uint* keys, threadgroup uint* ids, uint tid) {
  for (uint half_size = kThreads / 2; half_size > 0; half_size /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < half_size) {
      const uint other = tid + half_size;
      if (keys[other] > keys[tid] || (keys[other] == keys[tid] && ids[other] < ids[tid])) {
        keys[tid] = keys[other];
        ids[tid] = ids[other];
      }
    }
  }
}

// Grid: [parts, rows]. found: [rows, parts, 2], a key and its id.
[[max_total_threads_per_threadgroup(256)]]
kernel void argmax_parts(device const float* logits [[buffer(0)]],
                         device uint* found [[buffer(1)]],
                         constant pagoda_args::Argmax& args [[buffer(2)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]]) {
  threadgroup uint keys[kThreads];
  threadgroup uint ids[kThreads];
  device const float* from = logits + long(group.y) * args.logits_stride;
  const uint end = min((group.x + 1) * args.part_size, args.vocab);
  uint best = 0;
  uint id = args.vocab;
  for (uint i = group.x * args.part_size + tid; i < end; i += kThreads) {
    uint key = key_of(from[i]);
    key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
    id = key > best ? i : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    device uint* to = found + (long(group.y) * args.parts + group.x) * 2;
    to[0] = keys[0];
    to[1] = ids[0];
  }
}

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void argmax(device const uint* found [[buffer(0)]],
                   device int* tokens [[buffer(1)]],
                   constant pagoda_args::Argmax& args [[buffer(2)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
  threadgroup uint keys[kThreads];
  threadgroup uint ids[kThreads];
  device const uint* from = found + long(row) * args.parts * 2;
  uint best = 0;
  uint id = args.vocab;
  for (uint part = tid; part < args.parts; part += kThreads) {
    const uint key = from[part * 2];
    id = key > best ? from[part * 2 + 1] : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    tokens[row] = keys[0] > kMinusInfinityKey && keys[0] != kRefused ? int(ids[0]) : -1;
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/argmax.metal"
# 1 "Shaders/argmax.metal"



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
# 5 "Shaders/argmax.metal"
# 1 "Shaders/keys.h"




METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

MSL_CONSTANT constexpr uint kMinusInfinityKey = 0x007fffffu;
MSL_CONSTANT constexpr uint kInfinityKey = 0xff800000u;
# 6 "Shaders/argmax.metal"
# 1 "Shaders/args/argmax.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/argmax.h"

namespace pagoda_args {

struct Argmax {
  long logits_stride;
  uint vocab;
  uint parts;
  uint part_size;
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");

}
# 7 "Shaders/argmax.metal"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kRefused = 0xffffffffu;


METAL_FUNC void take_highest(MSL_THREADGROUP uint* keys, MSL_THREADGROUP uint* ids, uint tid) {
  for (uint half_size = kThreads / 2; half_size > 0; half_size /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < half_size) {
      const uint other = tid + half_size;
      if (keys[other] > keys[tid] || (keys[other] == keys[tid] && ids[other] < ids[tid])) {
        keys[tid] = keys[other];
        ids[tid] = ids[other];
      }
    }
  }
}



MSL_KERNEL void argmax_parts(MSL_DEVICE const float* logits ,
                         MSL_DEVICE uint* found ,
                         MSL_CONSTANT pagoda_args::Argmax& args ,
                         uint2 group ,
                         uint tid ) {
  MSL_TG_VAR(1, keys, [kThreads], uint)
  MSL_TG_VAR(2, ids, [kThreads], uint)
  MSL_DEVICE const float* from = logits + long(group.y) * args.logits_stride;
  const uint end = min((group.x + 1) * args.part_size, args.vocab);
  uint best = 0;
  uint id = args.vocab;
  for (uint i = group.x * args.part_size + tid; i < end; i += kThreads) {
    uint key = key_of(from[i]);
    key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
    id = key > best ? i : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    MSL_DEVICE uint* to = found + (long(group.y) * args.parts + group.x) * 2;
    to[0] = keys[0];
    to[1] = ids[0];
  }
}



MSL_KERNEL void argmax(MSL_DEVICE const uint* found ,
                   MSL_DEVICE int* tokens ,
                   MSL_CONSTANT pagoda_args::Argmax& args ,
                   uint row ,
                   uint tid ) {
  MSL_TG_VAR(3, keys, [kThreads], uint)
  MSL_TG_VAR(4, ids, [kThreads], uint)
  MSL_DEVICE const uint* from = found + long(row) * args.parts * 2;
  uint best = 0;
  uint id = args.vocab;
  for (uint part = tid; part < args.parts; part += kThreads) {
    const uint key = from[part * 2];
    id = key > best ? from[part * 2 + 1] : id;
    best = key > best ? key : best;
  }
  keys[tid] = best;
  ids[tid] = id;
  take_highest(keys, ids, tid);
  if (tid == 0) {
    tokens[row] = keys[0] > kMinusInfinityKey && keys[0] != kRefused ? int(ids[0]) : -1;
  }
}


# 1 "argmax.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_argmax_parts)
extern "C" __global__ void __launch_bounds__(256) argmax_parts(const float* logits, uint* found, const pagoda_args::Argmax args) {
  argmax_parts(logits, found, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_argmax)
extern "C" __global__ void __launch_bounds__(256) argmax(const uint* found, int* tokens, const pagoda_args::Argmax args) {
  argmax(found, tokens, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
