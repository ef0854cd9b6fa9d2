// The text of rope_and_cache.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource rope_and_cache_source() noexcept {
  return {"rope_and_cache",
R"msl(#pragma METAL fp contract(off)
// rope_and_cache: qk_norm_rope of queries and keys in place and reshape_and_cache of keys and values, in one launch.
// Arguments of rope_and_cache.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct RopeAndCache {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;  // elements
  long k_block_stride, k_place_stride, k_cache_head_stride;                        // of the key cache
  long v_block_stride, v_place_stride, v_cache_head_stride;                        // of the value cache
  uint q_heads, kv_heads;
  uint dim;          // at most 512
  uint half_rotary;  // pairs (i, i + half_rotary) are rotated
  uint block_size;
  float eps;
  float weight_offset;
  uint has_weight;
};
static_assert(sizeof(RopeAndCache) == 128, "host and kernel agree");

}  // namespace pagoda_args
// The part of qk_norm_rope and rope_and_cache for one head: RMS norm where there is a weight, then the rotation.

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

// Reads a head of `dim` floats and leaves it, normalised and rotated, in `head`, by one simdgroup; all lanes see all of
// it, and all reads of `from` are done, so that the caller may write there.
METAL_FUNC void norm_and_rotate(device const float* from, device const float* weight, device const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, threadgroup float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; i < dim; i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; i < half_rotary; i += 32) {
    const float angle = float(position) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + half_rotary];
    head[i] = a * c - b * s;
    head[i + half_rotary] = b * c + a * s;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

// One simdgroup for each head of a token, queries first, then keys, then values. Grid: [heads, tokens]
template <typename T>
[[max_total_threads_per_threadgroup(32)]]
kernel void rope_and_cache(device float* q [[buffer(0)]],
                           device float* k [[buffer(1)]],
                           device const float* v [[buffer(2)]],
                           device const float* q_weight [[buffer(3)]],
                           device const float* k_weight [[buffer(4)]],
                           device const int* positions [[buffer(5)]],
                           device const float* inv_freq [[buffer(6)]],
                           device const long* slot_mapping [[buffer(7)]],
                           device T* k_cache [[buffer(8)]],
                           device T* v_cache [[buffer(9)]],
                           constant pagoda_args::RopeAndCache& args [[buffer(10)]],
                           uint2 tg [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float head[512];
  const long block = slot_mapping[tg.y] / long(args.block_size);
  const long place = slot_mapping[tg.y] % long(args.block_size);
  if (tg.x >= args.q_heads + args.kv_heads) {
    const uint v_head = tg.x - args.q_heads - args.kv_heads;
    device const float* from = v + long(tg.y) * args.v_stride + long(v_head) * args.v_head_stride;
    device T* to = v_cache + block * args.v_block_stride + place * args.v_place_stride +
                   long(v_head) * args.v_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(from[i]);
    }
    return;
  }
  const bool is_key = tg.x >= args.q_heads;
  const uint k_head = is_key ? tg.x - args.q_heads : 0;
  device float* at = is_key ? k + long(tg.y) * args.k_stride + long(k_head) * args.k_head_stride
                            : q + long(tg.y) * args.q_stride + long(tg.x) * args.q_head_stride;
  norm_and_rotate((device const float*)(at), is_key ? k_weight : q_weight, inv_freq, positions[tg.y], args.dim,
                  args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  for (uint i = lane; i < args.dim; i += 32) {
    at[i] = head[i];
  }
  if (is_key) {
    device T* to = k_cache + block * args.k_block_stride + place * args.k_place_stride +
                   long(k_head) * args.k_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(head[i]);
    }
  }
}

#define INSTANTIATE(NAME, T) \
  template [[host_name("rope_and_cache_" NAME)]] kernel decltype(rope_and_cache<T>) rope_and_cache<T>;

INSTANTIATE("f32", float)
INSTANTIATE("f16", half)
INSTANTIATE("bf16", bfloat)
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/rope_and_cache.metal"
# 1 "Shaders/rope_and_cache.metal"

# 1 "Shaders/args/rope_and_cache.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/rope_and_cache.h"

namespace pagoda_args {

struct RopeAndCache {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_place_stride, k_cache_head_stride;
  long v_block_stride, v_place_stride, v_cache_head_stride;
  uint q_heads, kv_heads;
  uint dim;
  uint half_rotary;
  uint block_size;
  float eps;
  float weight_offset;
  uint has_weight;
};
static_assert(sizeof(RopeAndCache) == 128, "host and kernel agree");

}
# 3 "Shaders/rope_and_cache.metal"
# 1 "Shaders/rope.h"



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
# 5 "Shaders/rope.h"



METAL_FUNC void norm_and_rotate(MSL_DEVICE const float* from, MSL_DEVICE const float* weight, MSL_DEVICE const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, MSL_THREADGROUP float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; i < dim; i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; i < half_rotary; i += 32) {
    const float angle = float(position) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + half_rotary];
    head[i] = a * c - b * s;
    head[i + half_rotary] = b * c + a * s;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
# 4 "Shaders/rope_and_cache.metal"


template <typename T>

MSL_KERNEL void rope_and_cache(MSL_DEVICE float* q ,
                           MSL_DEVICE float* k ,
                           MSL_DEVICE const float* v ,
                           MSL_DEVICE const float* q_weight ,
                           MSL_DEVICE const float* k_weight ,
                           MSL_DEVICE const int* positions ,
                           MSL_DEVICE const float* inv_freq ,
                           MSL_DEVICE const long* slot_mapping ,
                           MSL_DEVICE T* k_cache ,
                           MSL_DEVICE T* v_cache ,
                           MSL_CONSTANT pagoda_args::RopeAndCache& args ,
                           uint2 tg ,
                           uint lane ) {
  MSL_TG_VAR(1, head, [512], float)
  const long block = slot_mapping[tg.y] / long(args.block_size);
  const long place = slot_mapping[tg.y] % long(args.block_size);
  if (tg.x >= args.q_heads + args.kv_heads) {
    const uint v_head = tg.x - args.q_heads - args.kv_heads;
    MSL_DEVICE const float* from = v + long(tg.y) * args.v_stride + long(v_head) * args.v_head_stride;
    MSL_DEVICE T* to = v_cache + block * args.v_block_stride + place * args.v_place_stride +
                   long(v_head) * args.v_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(from[i]);
    }
    return;
  }
  const bool is_key = tg.x >= args.q_heads;
  const uint k_head = is_key ? tg.x - args.q_heads : 0;
  MSL_DEVICE float* at = is_key ? k + long(tg.y) * args.k_stride + long(k_head) * args.k_head_stride
                            : q + long(tg.y) * args.q_stride + long(tg.x) * args.q_head_stride;
  norm_and_rotate((MSL_DEVICE const float*)(at), is_key ? k_weight : q_weight, inv_freq, positions[tg.y], args.dim,
                  args.half_rotary, args.eps, args.weight_offset, args.has_weight != 0, head, lane);
  for (uint i = lane; i < args.dim; i += 32) {
    at[i] = head[i];
  }
  if (is_key) {
    MSL_DEVICE T* to = k_cache + block * args.k_block_stride + place * args.k_place_stride +
                   long(k_head) * args.k_cache_head_stride;
    for (uint i = lane; i < args.dim; i += 32) {
      to[i] = T(head[i]);
    }
  }
}









# 1 "rope_and_cache.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rope_and_cache_f32)
extern "C" __global__ void __launch_bounds__(32) rope_and_cache_f32(float* q, float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, float* k_cache, float* v_cache, const pagoda_args::RopeAndCache args) {
  rope_and_cache<float>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rope_and_cache_f16)
extern "C" __global__ void __launch_bounds__(32) rope_and_cache_f16(float* q, float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, half* k_cache, half* v_cache, const pagoda_args::RopeAndCache args) {
  rope_and_cache<half>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_rope_and_cache_bf16)
extern "C" __global__ void __launch_bounds__(32) rope_and_cache_bf16(float* q, float* k, const float* v, const float* q_weight, const float* k_weight, const int* positions, const float* inv_freq, const long* slot_mapping, bfloat* k_cache, bfloat* v_cache, const pagoda_args::RopeAndCache args) {
  rope_and_cache<bfloat>(q, k, v, q_weight, k_weight, positions, inv_freq, slot_mapping, k_cache, v_cache, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
