// The text of embedding.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource embedding_source() noexcept {
  return {"embedding",
R"msl(#pragma METAL fp contract(off)
// embedding: a row of the table per token, as floats.
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
// Arguments of embedding.metal, shared by the kernels and the host.

// Types of the argument structs that shaders and host share: sizes are fixed, and every compiler asserts them.

#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif

namespace pagoda_args {

struct Embedding {
  long out_stride;  // elements from one token to the next
  uint cols;
  uint padded_cols;  // elements of a row of the table
  uint block;        // columns that are rotated together (quantised tables)
  uint reserved;
};
static_assert(sizeof(Embedding) == 24, "host and kernel agree");

}  // namespace pagoda_args

// Grid: [tokens]. table: [vocab, padded_cols]
template <typename T>
kernel void embedding(device const int* ids [[buffer(0)]],
                      device const T* table [[buffer(1)]],
                      device float* out [[buffer(2)]],
                      constant pagoda_args::Embedding& args [[buffer(3)]],
                      uint token [[threadgroup_position_in_grid]],
                      uint tid [[thread_index_in_threadgroup]],
                      uint num_threads [[threads_per_threadgroup]]) {
  device const T* row = table + ulong(ids[token]) * args.padded_cols;
  device float* to = out + long(token) * args.out_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    to[i] = float(row[i]);
  }
}

#define INSTANTIATE(NAME, T) \
  template [[host_name("embedding_" NAME)]] kernel decltype(embedding<T>) embedding<T>;

INSTANTIATE("f32", float)
INSTANTIATE("f16", half)
INSTANTIATE("bf16", bfloat)

// Quantised rows are kept rotated (host/quantise.h); rotated again and divided by the block they are themselves.
// Grid: [padded_cols / block, tokens]. steps: a pair (step, offset) for each 32 columns, 4 bits only.
template <uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void embedding_packed(device const int* ids [[buffer(0)]],
                             device const uint* table [[buffer(1)]],
                             device const uchar* steps [[buffer(2)]],
                             device const float* scales [[buffer(3)]],
                             device float* out [[buffer(4)]],
                             constant pagoda_args::Embedding& args [[buffer(5)]],
                             uint2 tg [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint PER_WORD = 32 / BITS;
  threadgroup float tile[4096];
  const ulong id = ulong(ids[tg.y]);
  const uint first = tg.x * args.block;
  for (uint i = tid; i < args.block; i += 128) {
    const ulong at = id * args.padded_cols + first + i;
    const uint word = table[at / PER_WORD];
    if (BITS == 8) {
      tile[i] = signed_byte(word, uint(at % PER_WORD));
    } else {
      tile[i] = stepped_nibble(word, uint(at % PER_WORD), steps[at / 32 * 2], steps[at / 32 * 2 + 1]);
    }
  }
  rotate(tile, args.block, tid, 128);
  const float scale = scales[id] / float(args.block);
  for (uint i = tid; i < args.block && first + i < args.cols; i += 128) {
    out[long(tg.y) * args.out_stride + first + i] = tile[i] * scale;
  }
}

template [[host_name("embedding_packed_q8")]] kernel decltype(embedding_packed<8>) embedding_packed<8>;
template [[host_name("embedding_packed_q4")]] kernel decltype(embedding_packed<4>) embedding_packed<4>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 1 "Shaders/embedding.metal"
# 1 "Shaders/embedding.metal"

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
# 3 "Shaders/embedding.metal"
# 1 "Shaders/args/embedding.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/embedding.h"

namespace pagoda_args {

struct Embedding {
  long out_stride;
  uint cols;
  uint padded_cols;
  uint block;
  uint reserved;
};
static_assert(sizeof(Embedding) == 24, "host and kernel agree");

}
# 4 "Shaders/embedding.metal"


template <typename T>
MSL_KERNEL void embedding(MSL_DEVICE const int* ids ,
                      MSL_DEVICE const T* table ,
                      MSL_DEVICE float* out ,
                      MSL_CONSTANT pagoda_args::Embedding& args ,
                      uint token ,
                      uint tid ,
                      uint num_threads ) {
  MSL_DEVICE const T* row = table + ulong(ids[token]) * args.padded_cols;
  MSL_DEVICE float* to = out + long(token) * args.out_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    to[i] = float(row[i]);
  }
}










template <uint BITS>

MSL_KERNEL void embedding_packed(MSL_DEVICE const int* ids ,
                             MSL_DEVICE const uint* table ,
                             MSL_DEVICE const uchar* steps ,
                             MSL_DEVICE const float* scales ,
                             MSL_DEVICE float* out ,
                             MSL_CONSTANT pagoda_args::Embedding& args ,
                             uint2 tg ,
                             uint tid ) {
  constexpr uint PER_WORD = 32 / BITS;
  MSL_TG_VAR(1, tile, [4096], float)
  const ulong id = ulong(ids[tg.y]);
  const uint first = tg.x * args.block;
  for (uint i = tid; i < args.block; i += 128) {
    const ulong at = id * args.padded_cols + first + i;
    const uint word = table[at / PER_WORD];
    if (BITS == 8) {
      tile[i] = signed_byte(word, uint(at % PER_WORD));
    } else {
      tile[i] = stepped_nibble(word, uint(at % PER_WORD), steps[at / 32 * 2], steps[at / 32 * 2 + 1]);
    }
  }
  rotate(tile, args.block, tid, 128);
  const float scale = scales[id] / float(args.block);
  for (uint i = tid; i < args.block && first + i < args.cols; i += 128) {
    out[long(tg.y) * args.out_stride + first + i] = tile[i] * scale;
  }
}





# 1 "embedding.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_f32)
extern "C" __global__ void __launch_bounds__(1024) embedding_f32(const int* ids, const float* table, float* out, const pagoda_args::Embedding args) {
  embedding<float>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_f16)
extern "C" __global__ void __launch_bounds__(1024) embedding_f16(const int* ids, const half* table, float* out, const pagoda_args::Embedding args) {
  embedding<half>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_bf16)
extern "C" __global__ void __launch_bounds__(1024) embedding_bf16(const int* ids, const bfloat* table, float* out, const pagoda_args::Embedding args) {
  embedding<bfloat>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_packed_q8)
extern "C" __global__ void __launch_bounds__(128) embedding_packed_q8(const int* ids, const uint* table, const uchar* steps, const float* scales, float* out, const pagoda_args::Embedding args) {
  embedding_packed<8>(ids, table, steps, scales, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_embedding_packed_q4)
extern "C" __global__ void __launch_bounds__(128) embedding_packed_q4(const int* ids, const uint* table, const uchar* steps, const float* scales, float* out, const pagoda_args::Embedding args) {
  embedding_packed<4>(ids, table, steps, scales, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
