// The text of reshape_and_cache.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource reshape_and_cache_source() noexcept {
  return {"reshape_and_cache",
R"msl(#pragma METAL fp contract(off)
// reshape_and_cache: keys and values of new tokens to their places in the paged cache.
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
// Arguments of reshape_and_cache.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;     // elements
  long k_block_stride, k_place_stride, k_cache_head_stride;  // of the key cache
  long v_block_stride, v_place_stride, v_cache_head_stride;  // of the value cache
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");

}  // namespace pagoda_args

// Grid: [tokens]. A slot is block * block_size + place.
template <typename T>
kernel void reshape_and_cache(device const float* k [[buffer(0)]],
                              device const float* v [[buffer(1)]],
                              device const long* slot_mapping [[buffer(2)]],
                              device T* k_cache [[buffer(3)]],
                              device T* v_cache [[buffer(4)]],
                              constant pagoda_args::ReshapeAndCache& args [[buffer(5)]],
                              uint token [[threadgroup_position_in_grid]],
                              uint tid [[thread_index_in_threadgroup]],
                              uint num_threads [[threads_per_threadgroup]]) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long place = slot_mapping[token] % long(args.block_size);
  for (uint i = tid; i < args.kv_heads * args.dim; i += num_threads) {
    const long head = i / args.dim;
    const uint d = i % args.dim;
    k_cache[block * args.k_block_stride + place * args.k_place_stride + head * args.k_cache_head_stride + d] =
        T(k[long(token) * args.k_stride + head * args.k_head_stride + d]);
    v_cache[block * args.v_block_stride + place * args.v_place_stride + head * args.v_cache_head_stride + d] =
        T(v[long(token) * args.v_stride + head * args.v_head_stride + d]);
  }
}

#define INSTANTIATE(NAME, T) \
  template [[host_name("reshape_and_cache_" NAME)]] kernel decltype(reshape_and_cache<T>) reshape_and_cache<T>;

INSTANTIATE("f32", float)
INSTANTIATE("f16", half)
INSTANTIATE("bf16", bfloat)
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/reshape_and_cache.metal"
# 1 "Shaders/reshape_and_cache.metal"

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
# 3 "Shaders/reshape_and_cache.metal"
# 1 "Shaders/args/reshape_and_cache.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/reshape_and_cache.h"

namespace pagoda_args {

struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_place_stride, k_cache_head_stride;
  long v_block_stride, v_place_stride, v_cache_head_stride;
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");

}
# 4 "Shaders/reshape_and_cache.metal"


template <typename T>
MSL_KERNEL void reshape_and_cache(MSL_DEVICE const float* k ,
                              MSL_DEVICE const float* v ,
                              MSL_DEVICE const long* slot_mapping ,
                              MSL_DEVICE T* k_cache ,
                              MSL_DEVICE T* v_cache ,
                              MSL_CONSTANT pagoda_args::ReshapeAndCache& args ,
                              uint token ,
                              uint tid ,
                              uint num_threads ) {
  const long block = slot_mapping[token] / long(args.block_size);
  const long place = slot_mapping[token] % long(args.block_size);
  for (uint i = tid; i < args.kv_heads * args.dim; i += num_threads) {
    const long head = i / args.dim;
    const uint d = i % args.dim;
    k_cache[block * args.k_block_stride + place * args.k_place_stride + head * args.k_cache_head_stride + d] =
        T(k[long(token) * args.k_stride + head * args.k_head_stride + d]);
    v_cache[block * args.v_block_stride + place * args.v_place_stride + head * args.v_cache_head_stride + d] =
        T(v[long(token) * args.v_stride + head * args.v_head_stride + d]);
  }
}









# 1 "reshape_and_cache.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_reshape_and_cache_f32)
extern "C" __global__ void __launch_bounds__(1024) reshape_and_cache_f32(const float* k, const float* v, const long* slot_mapping, float* k_cache, float* v_cache, const pagoda_args::ReshapeAndCache args) {
  reshape_and_cache<float>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_reshape_and_cache_f16)
extern "C" __global__ void __launch_bounds__(1024) reshape_and_cache_f16(const float* k, const float* v, const long* slot_mapping, half* k_cache, half* v_cache, const pagoda_args::ReshapeAndCache args) {
  reshape_and_cache<half>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_reshape_and_cache_bf16)
extern "C" __global__ void __launch_bounds__(1024) reshape_and_cache_bf16(const float* k, const float* v, const long* slot_mapping, bfloat* k_cache, bfloat* v_cache, const pagoda_args::ReshapeAndCache args) {
  reshape_and_cache<bfloat>(k, v, slot_mapping, k_cache, v_cache, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
