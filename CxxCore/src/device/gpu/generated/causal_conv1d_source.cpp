// The text of causal_conv1d.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource causal_conv1d_source() noexcept {
  return {"causal_conv1d",
R"msl(#pragma METAL fp contract(off)
// causal_conv1d: a short window over time per channel, then SiLU; the window's past comes from and goes to `tail`.
// tail: [slots, tail_rows, channels], a ring: position p in row p % tail_rows. weight: [kernel_size, channels], the last one is of now.
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

// Any rows; the tail is left for causal_conv1d_tail. Grid: [channels / 128, tokens]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d(device const float* x [[buffer(0)]],
                          device const float* weight [[buffer(1)]],
                          device const float* tail [[buffer(2)]],
                          device const int* cu_seqlens [[buffer(3)]],
                          device const int* context_lens [[buffer(4)]],
                          device const int* state_slots [[buffer(5)]],
                          device float* out [[buffer(6)]],
                          constant pagoda_args::CausalConv1d& args [[buffer(7)]],
                          uint2 tg [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const uint sequence = sequence_of_row(cu_seqlens, args.num_sequences, tg.y);
  const int begin = cu_seqlens[sequence];
  const int position = context_lens[sequence] - (cu_seqlens[sequence + 1] - begin);
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(x + long(begin) * args.x_stride + channel,
               tail + long(state_slots[sequence]) * args.tail_slot_stride + channel, weight + channel, args, position,
               int(tg.y) - begin);
}

// The sequence's last inputs to their places. Grid: [channels / 128, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d_tail(device const float* x [[buffer(0)]],
                               device float* tail [[buffer(1)]],
                               device const int* cu_seqlens [[buffer(2)]],
                               device const int* context_lens [[buffer(3)]],
                               device const int* state_slots [[buffer(4)]],
                               constant pagoda_args::CausalConv1d& args [[buffer(5)]],
                               uint2 tg [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const int begin = cu_seqlens[tg.y];
  const int rows = cu_seqlens[tg.y + 1] - begin;
  const int position = context_lens[tg.y] - rows;
  device const float* from = x + long(begin) * args.x_stride + channel;
  device float* to = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  // Rows before the first would only be written over. Not max(): its mutant writes them, and no test can tell.
  const int first = rows > int(args.tail_rows) ? rows - int(args.tail_rows) : 0;
  for (int row = first; row < rows; ++row) {
    to[tail_place(args, position + row)] = from[long(row) * args.x_stride];
  }
}

// Both at once where every sequence has one row. Grid: [channels / 128, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d_update(device const float* x [[buffer(0)]],
                                 device const float* weight [[buffer(1)]],
                                 device float* tail [[buffer(2)]],
                                 device const int* context_lens [[buffer(3)]],
                                 device const int* state_slots [[buffer(4)]],
                                 device float* out [[buffer(5)]],
                                 constant pagoda_args::CausalConv1d& args [[buffer(6)]],
                                 uint2 tg [[threadgroup_position_in_grid]],
                                 uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  device const float* row = x + long(tg.y) * args.x_stride + channel;
  device float* past = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  const int position = context_lens[tg.y] - 1;
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(row, (device const float*)(past), weight + channel, args, position, 0);
  past[tail_place(args, position)] = row[0];
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/causal_conv1d.metal"
# 1 "Shaders/causal_conv1d.metal"


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
# 4 "Shaders/causal_conv1d.metal"



MSL_KERNEL void causal_conv1d(MSL_DEVICE const float* x ,
                          MSL_DEVICE const float* weight ,
                          MSL_DEVICE const float* tail ,
                          MSL_DEVICE const int* cu_seqlens ,
                          MSL_DEVICE const int* context_lens ,
                          MSL_DEVICE const int* state_slots ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::CausalConv1d& args ,
                          uint2 tg ,
                          uint tid ) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const uint sequence = sequence_of_row(cu_seqlens, args.num_sequences, tg.y);
  const int begin = cu_seqlens[sequence];
  const int position = context_lens[sequence] - (cu_seqlens[sequence + 1] - begin);
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(x + long(begin) * args.x_stride + channel,
               tail + long(state_slots[sequence]) * args.tail_slot_stride + channel, weight + channel, args, position,
               int(tg.y) - begin);
}



MSL_KERNEL void causal_conv1d_tail(MSL_DEVICE const float* x ,
                               MSL_DEVICE float* tail ,
                               MSL_DEVICE const int* cu_seqlens ,
                               MSL_DEVICE const int* context_lens ,
                               MSL_DEVICE const int* state_slots ,
                               MSL_CONSTANT pagoda_args::CausalConv1d& args ,
                               uint2 tg ,
                               uint tid ) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const int begin = cu_seqlens[tg.y];
  const int rows = cu_seqlens[tg.y + 1] - begin;
  const int position = context_lens[tg.y] - rows;
  MSL_DEVICE const float* from = x + long(begin) * args.x_stride + channel;
  MSL_DEVICE float* to = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;

  const int first = rows > int(args.tail_rows) ? rows - int(args.tail_rows) : 0;
  for (int row = first; row < rows; ++row) {
    to[tail_place(args, position + row)] = from[long(row) * args.x_stride];
  }
}



MSL_KERNEL void causal_conv1d_update(MSL_DEVICE const float* x ,
                                 MSL_DEVICE const float* weight ,
                                 MSL_DEVICE float* tail ,
                                 MSL_DEVICE const int* context_lens ,
                                 MSL_DEVICE const int* state_slots ,
                                 MSL_DEVICE float* out ,
                                 MSL_CONSTANT pagoda_args::CausalConv1d& args ,
                                 uint2 tg ,
                                 uint tid ) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  MSL_DEVICE const float* row = x + long(tg.y) * args.x_stride + channel;
  MSL_DEVICE float* past = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  const int position = context_lens[tg.y] - 1;
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(row, (MSL_DEVICE const float*)(past), weight + channel, args, position, 0);
  past[tail_place(args, position)] = row[0];
}


# 1 "causal_conv1d.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_causal_conv1d)
extern "C" __global__ void __launch_bounds__(128) causal_conv1d(const float* x, const float* weight, const float* tail, const int* cu_seqlens, const int* context_lens, const int* state_slots, float* out, const pagoda_args::CausalConv1d args) {
  causal_conv1d(x, weight, tail, cu_seqlens, context_lens, state_slots, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_causal_conv1d_tail)
extern "C" __global__ void __launch_bounds__(128) causal_conv1d_tail(const float* x, float* tail, const int* cu_seqlens, const int* context_lens, const int* state_slots, const pagoda_args::CausalConv1d args) {
  causal_conv1d_tail(x, tail, cu_seqlens, context_lens, state_slots, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_causal_conv1d_update)
extern "C" __global__ void __launch_bounds__(128) causal_conv1d_update(const float* x, const float* weight, float* tail, const int* context_lens, const int* state_slots, float* out, const pagoda_args::CausalConv1d args) {
  causal_conv1d_update(x, weight, tail, context_lens, state_slots, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
