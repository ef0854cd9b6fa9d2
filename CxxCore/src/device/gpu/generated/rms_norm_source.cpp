// The text of rms_norm.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource rms_norm_source() noexcept {
  return {"rms_norm",
R"msl(#pragma METAL fp contract(off)
// rms_norm: optional residual addition, then normalisation of each row. One threadgroup a row.
// Arguments of rms_norm, shared by the kernel and the host.

#ifndef __METAL_VERSION__
#include <cstddef>
#include <cstdint>
#endif

namespace pagoda_args {

struct RmsNorm {
  uint32_t width;            // H: elements of a row
  uint32_t x_stride;         // elements between rows of x
  uint32_t residual_stride;  // of residual
  uint32_t out_stride;       // of out
  float eps;
  float weight_offset;  // 1 for zero-centred weights
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}  // namespace pagoda_args

#ifndef __METAL_VERSION__
static_assert(offsetof(pagoda_args::RmsNorm, weight_offset) == 20);
#endif
// Norms and gates of activations: what their own kernels and the matmuls that make their rows share.

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

constant constexpr uint kRowThreads = 256;  // that sum a row's squares; part of the result's bits
constant constexpr uint kRowSimdgroups = 8;
// Loads in flight of a thread: with one row there is nothing else to wait beside.
constant constexpr uint kAhead = 8;

// A thread's share of the sum of squares of a row.
METAL_FUNC float thread_squares(device const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }

// By one simdgroup.
METAL_FUNC float head_scale(device const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }

constant bool has_residual [[function_constant(0)]];

// x, residual, out: [rows, width], rows strided; weight: [width]. With a residual, x becomes x + residual.
[[max_total_threads_per_threadgroup(256)]]
kernel void rms_norm(
    device float* x [[buffer(0)]],
    device const float* residual [[buffer(1)]],
    device const float* weight [[buffer(2)]],
    device float* out [[buffer(3)]],
    constant pagoda_args::RmsNorm& args [[buffer(4)]],
    uint row [[threadgroup_position_in_grid]],
    uint tid [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[8];
  device float* x_row = x + ulong(row) * args.x_stride;
  const uint step = kAhead * kRowThreads;
  if (has_residual) {
    for (uint first = tid; first < args.width; first += step) {
      float v[kAhead];
      float r[kAhead];
      load_ahead((device const float*)(x_row), first, kRowThreads, args.width, v);
      load_ahead(residual + ulong(row) * args.residual_stride, first, kRowThreads, args.width, r);
      #pragma unroll
      for (uint j = 0; j < kAhead; ++j) {
        if (first + j * kRowThreads < args.width) {
          x_row[first + j * kRowThreads] = v[j] + r[j];
        }
      }
    }
  }
  // A thread reads back what it wrote itself.
  const float squares = threadgroup_sum(thread_squares((device const float*)(x_row), args.width, tid), partial, lane,
                                        simdgroup, kRowSimdgroups);
  const float scale = rms_scale(squares, args.width, args.eps);
  for (uint first = tid; first < args.width; first += step) {
    float v[kAhead];
    float w[kAhead];
    load_ahead((device const float*)(x_row), first, kRowThreads, args.width, v);
    load_ahead(weight, first, kRowThreads, args.width, w);
    #pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < args.width) {
        out[ulong(row) * args.out_stride + first + j * kRowThreads] =
            normed(v[j], scale, w[j], args.weight_offset);
      }
    }
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/rms_norm.metal"
# 1 "Shaders/rms_norm.metal"

# 1 "Shaders/args/rms_norm.h"








namespace pagoda_args {

struct RmsNorm {
  uint32_t width;
  uint32_t x_stride;
  uint32_t residual_stride;
  uint32_t out_stride;
  float eps;
  float weight_offset;
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");

}
# 3 "Shaders/rms_norm.metal"
# 1 "Shaders/norms.h"



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
# 5 "Shaders/norms.h"

MSL_CONSTANT constexpr uint kRowThreads = 256;
MSL_CONSTANT constexpr uint kRowSimdgroups = 8;

MSL_CONSTANT constexpr uint kAhead = 8;


METAL_FUNC float thread_squares(MSL_DEVICE const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}

METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }


METAL_FUNC float head_scale(MSL_DEVICE const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    squares = fma(head[i], head[i], squares);
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}

METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }

METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }

METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
# 4 "Shaders/rms_norm.metal"

MSL_FUNCTION_CONSTANT(bool, has_residual, 0)



MSL_KERNEL void rms_norm(
    MSL_DEVICE float* x ,
    MSL_DEVICE const float* residual ,
    MSL_DEVICE const float* weight ,
    MSL_DEVICE float* out ,
    MSL_CONSTANT pagoda_args::RmsNorm& args ,
    uint row ,
    uint tid ,
    uint lane ,
    uint simdgroup ) {
  MSL_TG_VAR(1, partial, [8], float)
  MSL_DEVICE float* x_row = x + ulong(row) * args.x_stride;
  const uint step = kAhead * kRowThreads;
  if (has_residual) {
    for (uint first = tid; first < args.width; first += step) {
      float v[kAhead];
      float r[kAhead];
      load_ahead((MSL_DEVICE const float*)(x_row), first, kRowThreads, args.width, v);
      load_ahead(residual + ulong(row) * args.residual_stride, first, kRowThreads, args.width, r);
#pragma unroll
      for (uint j = 0; j < kAhead; ++j) {
        if (first + j * kRowThreads < args.width) {
          x_row[first + j * kRowThreads] = v[j] + r[j];
        }
      }
    }
  }

  const float squares = threadgroup_sum(thread_squares((MSL_DEVICE const float*)(x_row), args.width, tid), partial, lane,
                                        simdgroup, kRowSimdgroups);
  const float scale = rms_scale(squares, args.width, args.eps);
  for (uint first = tid; first < args.width; first += step) {
    float v[kAhead];
    float w[kAhead];
    load_ahead((MSL_DEVICE const float*)(x_row), first, kRowThreads, args.width, v);
    load_ahead(weight, first, kRowThreads, args.width, w);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < args.width) {
        out[ulong(row) * args.out_stride + first + j * kRowThreads] =
            normed(v[j], scale, w[j], args.weight_offset);
      }
    }
  }
}


# 1 "rms_norm.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rms_norm)
extern "C" __global__ void __launch_bounds__(256) rms_norm(float* x, const float* residual, const float* weight, float* out, const pagoda_args::RmsNorm args) {
  rms_norm(x, residual, weight, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
