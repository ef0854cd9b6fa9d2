// The text of matmul_rows.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_rows_source() noexcept {
  return {"matmul_rows",
R"msl(#pragma METAL fp contract(off)
// matmul_rows: activations as the kernels of 16, 8 and 4 bits take them; matmul.h has the layout.
// Arguments of matmul_*.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct MatmulRows {
  long x_stride;  // elements from one row to the next
  uint cols;
  uint padded_cols;
  uint block;  // columns that are rotated together (quantised weights)
  uint reserved;
};
static_assert(sizeof(MatmulRows) == 24, "host and kernel agree");

struct Matmul {
  long x_stride;    // elements from one row of x to the next
  long out_stride;  // elements from one row to the next
  uint rows;        // M
  uint cols;        // K
  uint out_cols;    // N, or N / 2 with silu_mul
  uint padded_cols;
  uint run;  // columns that are summed together: an eighth of padded_cols, rounded up to 64
  uint has_bias;
  uint silu_mul;
  uint reserved;
};
static_assert(sizeof(Matmul) == 48, "host and kernel agree");

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

// Grid: [rows]
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_rows_bf16(device const float* x [[buffer(0)]],
                               device bfloat* out [[buffer(1)]],
                               device float* scales [[buffer(2)]],
                               constant pagoda_args::MatmulRows& args [[buffer(3)]],
                               uint row [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]]) {
  for (uint i = tid; i < args.padded_cols; i += 128) {
    float value = 0.0f;
    if (i < args.cols) {
      value = x[long(row) * args.x_stride + i];
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
  if (tid == 0) {
    scales[row] = 1.0f;
  }
}

// The power of two that brings a sum of magnitudes below 2^15 goes to the activations, its inverse to the sums.
METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}

// A row's elements after rotation are no larger than the sum of magnitudes of the row. Grid: [rows]
template <bool ROTATED>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_rows(device const float* x [[buffer(0)]],
                             device half* out [[buffer(1)]],
                             device float* scales [[buffer(2)]],
                             constant pagoda_args::MatmulRows& args [[buffer(3)]],
                             uint row [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]],
                             uint sg [[simdgroup_index_in_threadgroup]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[ROTATED ? 4096 : 128];
  threadgroup float parts[4];
  device const float* from = x + long(row) * args.x_stride;
  device half* to = out + long(row) * args.padded_cols;
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += 128) {
    magnitudes += abs(from[i]);
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, 4);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);  // rotated twice: times block
  }
  const uint block = ROTATED ? args.block : 128;
  for (uint first = 0; first < args.padded_cols; first += block) {
    for (uint i = tid; i < block; i += 128) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = from[first + i] * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, 128);
    }
    for (uint i = tid; i < block && first + i < args.padded_cols; i += 128) {
      to[first + i] = half(tile[i]);  // the thread's own elements: the next block may overwrite them
    }
  }
}

template [[host_name("matmul_rows_f16")]] kernel decltype(matmul_rows<false>) matmul_rows<false>;
template [[host_name("matmul_rows_rotated")]] kernel decltype(matmul_rows<true>) matmul_rows<true>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/matmul_rows.metal"
# 1 "Shaders/matmul_rows.metal"

# 1 "Shaders/args/matmul.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/matmul.h"

namespace pagoda_args {

struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint block;
  uint reserved;
};
static_assert(sizeof(MatmulRows) == 24, "host and kernel agree");

struct Matmul {
  long x_stride;
  long out_stride;
  uint rows;
  uint cols;
  uint out_cols;
  uint padded_cols;
  uint run;
  uint has_bias;
  uint silu_mul;
  uint reserved;
};
static_assert(sizeof(Matmul) == 48, "host and kernel agree");

}
# 3 "Shaders/matmul_rows.metal"
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
# 4 "Shaders/matmul_rows.metal"



MSL_KERNEL void matmul_rows_bf16(MSL_DEVICE const float* x ,
                               MSL_DEVICE bfloat* out ,
                               MSL_DEVICE float* scales ,
                               MSL_CONSTANT pagoda_args::MatmulRows& args ,
                               uint row ,
                               uint tid ) {
  for (uint i = tid; i < args.padded_cols; i += 128) {
    float value = 0.0f;
    if (i < args.cols) {
      value = x[long(row) * args.x_stride + i];
    }
    out[long(row) * args.padded_cols + i] = bfloat(value);
  }
  if (tid == 0) {
    scales[row] = 1.0f;
  }
}


METAL_FUNC float power_below(float magnitudes, bool inverse) {
  const int exponent = clamp(int(as_type<uint>(magnitudes) >> 23) - 127, -100, 100);
  const int shift = magnitudes > 0.0f ? 14 - exponent : 0;
  return as_type<float>(uint(127 + (inverse ? -shift : shift)) << 23);
}


template <bool ROTATED>

MSL_KERNEL void matmul_rows(MSL_DEVICE const float* x ,
                             MSL_DEVICE half* out ,
                             MSL_DEVICE float* scales ,
                             MSL_CONSTANT pagoda_args::MatmulRows& args ,
                             uint row ,
                             uint tid ,
                             uint sg ,
                             uint lane ) {
  MSL_TG_VAR(1, tile, [ROTATED?4096:128], float)
  MSL_TG_VAR(2, parts, [4], float)
  MSL_DEVICE const float* from = x + long(row) * args.x_stride;
  MSL_DEVICE half* to = out + long(row) * args.padded_cols;
  float magnitudes = 0.0f;
  for (uint i = tid; i < args.cols; i += 128) {
    magnitudes += abs(from[i]);
  }
  magnitudes = threadgroup_sum(magnitudes, parts, lane, sg, 4);
  const float scale = power_below(magnitudes, false);
  if (tid == 0) {
    scales[row] = power_below(magnitudes, true) / (ROTATED ? float(args.block) : 1.0f);
  }
  const uint block = ROTATED ? args.block : 128;
  for (uint first = 0; first < args.padded_cols; first += block) {
    for (uint i = tid; i < block; i += 128) {
      tile[i] = 0.0f;
      if (first + i < args.cols) {
        tile[i] = from[first + i] * scale;
      }
    }
    if (ROTATED) {
      rotate(tile, block, tid, 128);
    }
    for (uint i = tid; i < block && first + i < args.padded_cols; i += 128) {
      to[first + i] = half(tile[i]);
    }
  }
}





# 1 "matmul_rows.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_bf16)
extern "C" __global__ void __launch_bounds__(128) matmul_rows_bf16(const float* x, bfloat* out, float* scales, const pagoda_args::MatmulRows args) {
  matmul_rows_bf16(x, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_f16)
extern "C" __global__ void __launch_bounds__(128) matmul_rows_f16(const float* x, half* out, float* scales, const pagoda_args::MatmulRows args) {
  matmul_rows<false>(x, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_rows_rotated)
extern "C" __global__ void __launch_bounds__(128) matmul_rows_rotated(const float* x, half* out, float* scales, const pagoda_args::MatmulRows args) {
  matmul_rows<true>(x, out, scales, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
