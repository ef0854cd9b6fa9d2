// The text of gated_rms_norm.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource gated_rms_norm_source() noexcept {
  return {"gated_rms_norm",
R"msl(#pragma METAL fp contract(off)
// gated_rms_norm: out = x / rms(x) * weight * silu(z), per head.
// Arguments of gated_rms_norm, shared by the kernel and the host, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct GatedRmsNorm {
  long x_stride, x_head_stride, z_stride, z_head_stride, out_stride, out_head_stride;  // elements
  uint dim;
  float eps;
};
static_assert(sizeof(GatedRmsNorm) == 56, "host and kernel agree");

}  // namespace pagoda_args
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

// Grid: [heads, tokens], one simdgroup each.
[[max_total_threads_per_threadgroup(32)]]
kernel void gated_rms_norm(device const float* x [[buffer(0)]],
                           device const float* z [[buffer(1)]],
                           device const float* weight [[buffer(2)]],
                           device float* out [[buffer(3)]],
                           constant pagoda_args::GatedRmsNorm& args [[buffer(4)]],
                           uint2 tg [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  device const float* row = x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride;
  device const float* gate = z + long(tg.y) * args.z_stride + long(tg.x) * args.z_head_stride;
  device float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  const float scale = head_scale(row, args.dim, args.eps, lane);
  for (uint first = lane; first < args.dim; first += 4 * 32) {
    float v[4];
    float w[4];
    float g[4];
    load_ahead(row, first, 32, args.dim, v);
    load_ahead(weight, first, 32, args.dim, w);
    load_ahead(gate, first, 32, args.dim, g);
    #pragma unroll
    for (uint j = 0; j < 4; ++j) {
      if (first + j * 32 < args.dim) {
        to[first + j * 32] = gated_normed(v[j], scale, w[j], g[j]);
      }
    }
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/gated_rms_norm.metal"
# 1 "Shaders/gated_rms_norm.metal"

# 1 "Shaders/args/gated_rms_norm.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/gated_rms_norm.h"

namespace pagoda_args {

struct GatedRmsNorm {
  long x_stride, x_head_stride, z_stride, z_head_stride, out_stride, out_head_stride;
  uint dim;
  float eps;
};
static_assert(sizeof(GatedRmsNorm) == 56, "host and kernel agree");

}
# 3 "Shaders/gated_rms_norm.metal"
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
# 4 "Shaders/gated_rms_norm.metal"



MSL_KERNEL void gated_rms_norm(MSL_DEVICE const float* x ,
                           MSL_DEVICE const float* z ,
                           MSL_DEVICE const float* weight ,
                           MSL_DEVICE float* out ,
                           MSL_CONSTANT pagoda_args::GatedRmsNorm& args ,
                           uint2 tg ,
                           uint lane ) {
  MSL_DEVICE const float* row = x + long(tg.y) * args.x_stride + long(tg.x) * args.x_head_stride;
  MSL_DEVICE const float* gate = z + long(tg.y) * args.z_stride + long(tg.x) * args.z_head_stride;
  MSL_DEVICE float* to = out + long(tg.y) * args.out_stride + long(tg.x) * args.out_head_stride;
  const float scale = head_scale(row, args.dim, args.eps, lane);
  for (uint first = lane; first < args.dim; first += 4 * 32) {
    float v[4];
    float w[4];
    float g[4];
    load_ahead(row, first, 32, args.dim, v);
    load_ahead(weight, first, 32, args.dim, w);
    load_ahead(gate, first, 32, args.dim, g);
#pragma unroll
    for (uint j = 0; j < 4; ++j) {
      if (first + j * 32 < args.dim) {
        to[first + j * 32] = gated_normed(v[j], scale, w[j], g[j]);
      }
    }
  }
}


# 1 "gated_rms_norm.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_gated_rms_norm)
extern "C" __global__ void __launch_bounds__(32) gated_rms_norm(const float* x, const float* z, const float* weight, float* out, const pagoda_args::GatedRmsNorm args) {
  gated_rms_norm(x, z, weight, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
