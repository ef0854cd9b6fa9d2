// The text of expert_matmul.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_matmul_source() noexcept {
  return {"expert_matmul",
R"msl(#pragma METAL fp contract(off)
// expert_matmul: every row of out is x times the matrix of its expert; or silu of the first half of it times the second.
//
// expert_tiles sorts the rows of out by expert, into tiles of up to eight of one expert; expert_matmul reads a row of
// that expert's matrix once for all of them. A sum is that of a row alone: lanes take every 32nd group of four columns,
// in order, then lanes by butterfly. So a row's bits do not depend on who shares its tile.
//
// Weights lie as matmul.h says; x is floats as they are, or for 8 and 4 bits what matmul_rows_rotated makes of them.
#include "common.h"
#include "args/experts.h"

constant constexpr uint kRows = 8;  // of a tile

// Formats of weights.
struct F32 {};
struct F16 {};
struct BF16 {};
struct Q8 {};
struct Q4 {};

// Four neighbouring elements. at: index of the first in the matrix, a multiple of 4
METAL_FUNC float4 load_four(F32 format, device const uint* w, device const ushort* steps, ulong at) {
  return *(device const float4*)(w + at);
}

METAL_FUNC float half_of(uint word, uint shift) { return float(as_type<half>(ushort(word >> shift & 0xffffu))); }

METAL_FUNC float4 load_four(F16 format, device const uint* w, device const ushort* steps, ulong at) {
  const uint2 words = *(device const uint2*)(w + at / 2);
  return float4(half_of(words.x, 0), half_of(words.x, 16), half_of(words.y, 0), half_of(words.y, 16));
}

METAL_FUNC float4 load_four(BF16 format, device const uint* w, device const ushort* steps, ulong at) {
  const uint2 words = *(device const uint2*)(w + at / 2);
  return float4(as_type<float>(words.x << 16), as_type<float>(words.x & 0xffff0000u), as_type<float>(words.y << 16),
                as_type<float>(words.y & 0xffff0000u));
}

METAL_FUNC float4 load_four(Q8 format, device const uint* w, device const ushort* steps, ulong at) {
  const uint word = w[at / 4];
  return float4(signed_byte(word, 0), signed_byte(word, 1), signed_byte(word, 2), signed_byte(word, 3));
}

METAL_FUNC float4 load_four(Q4 format, device const uint* w, device const ushort* steps, ulong at) {
  const uint word = w[at / 8] >> (at % 8 * 4);
  const uint step = uint(steps[at / 32]) & 0xffu;
  const uint offset = uint(steps[at / 32]) >> 8;
  return float4(stepped_nibble(word, 0, step, offset), stepped_nibble(word, 1, step, offset),
                stepped_nibble(word, 2, step, offset), stepped_nibble(word, 3, step, offset));
}

template <typename X>
METAL_FUNC float x_at(device const X* row, uint k, uint cols) {
  return k < cols ? float(row[k]) : 0.0f;
}

// sum plus four products, in order.
template <typename X>
METAL_FUNC float add_four(device const X* row, uint k, uint cols, float4 four, float sum) {
  sum = fma(x_at(row, k, cols), four.x, sum);
  sum = fma(x_at(row, k + 1, cols), four.y, sum);
  sum = fma(x_at(row, k + 2, cols), four.z, sum);
  return fma(x_at(row, k + 3, cols), four.w, sum);
}

// One row of weights times the rows of x of a tile; every lane gets the sums.
template <typename FORMAT, typename X>
METAL_FUNC void multiply_rows(device const uint* w, device const ushort* steps, ulong w_at, device const X* x,
                              thread const ulong (&rows)[kRows], uint count, uint cols, uint lane,
                              thread float (&sums)[kRows]) {
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    sums[r] = 0.0f;
  }
  for (uint k = lane * 4; k < cols; k += 128) {
    const float4 four = load_four(FORMAT(), w, steps, w_at + k);
    #pragma unroll
    for (uint r = 0; r < kRows; ++r) {
      sums[r] = r < count ? add_four(x + rows[r], k, cols, four, sums[r]) : 0.0f;
    }
  }
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    sums[r] = simd_sum(sums[r]);
  }
}

// SCALED: rows of x and of weights have scales. Grid: [out_cols / 4, max_tiles]
template <typename FORMAT, typename X, bool SCALED>
[[max_total_threads_per_threadgroup(128)]]
kernel void expert_matmul(device const X* x [[buffer(0)]],
                          device const float* x_scales [[buffer(1)]],
                          device const uint* w [[buffer(2)]],
                          device const ushort* w_steps [[buffer(3)]],
                          device const float* w_scales [[buffer(4)]],
                          device const uint* order [[buffer(5)]],
                          device const uint* tiles [[buffer(6)]],
                          device float* out [[buffer(7)]],
                          constant pagoda_args::ExpertMatmul& args [[buffer(8)]],
                          uint2 tg [[threadgroup_position_in_grid]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const uint count = tiles[tg.y * 4 + 2];
  const uint n = tg.x * 4 + sg;
  if (count == 0 || n >= args.out_cols) {
    return;
  }
  device const uint* slots = order + tiles[tg.y * 4 + 1];
  ulong rows[kRows];
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    rows[r] = ulong(slots[r < count ? r : 0] / args.x_share) * ulong(args.x_stride);
  }
  const uint w_row = tiles[tg.y * 4] * args.expert_rows + n;
  float sums[kRows];
  float others[kRows];
  multiply_rows<FORMAT, X>(w, w_steps, ulong(w_row) * args.padded_cols, x, rows, count, args.cols, lane, sums);
  if (args.silu_mul != 0) {
    const ulong at = ulong(w_row + args.out_cols) * args.padded_cols;
    multiply_rows<FORMAT, X>(w, w_steps, at, x, rows, count, args.cols, lane, others);
  }
  #pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    if (lane == r && r < count) {
      const float x_scale = SCALED ? x_scales[slots[r] / args.x_share] : 1.0f;
      float value = SCALED ? sums[r] * x_scale * w_scales[w_row] : sums[r];
      if (args.silu_mul != 0) {
        value = silu(value) * (SCALED ? others[r] * x_scale * w_scales[w_row + args.out_cols] : others[r]);
      }
      out[long(slots[r]) * args.out_stride + n] = value;
    }
  }
}

template [[host_name("expert_matmul_f32")]]
kernel decltype(expert_matmul<F32, float, false>) expert_matmul<F32, float, false>;
template [[host_name("expert_matmul_f16")]]
kernel decltype(expert_matmul<F16, float, false>) expert_matmul<F16, float, false>;
template [[host_name("expert_matmul_bf16")]]
kernel decltype(expert_matmul<BF16, float, false>) expert_matmul<BF16, float, false>;
template [[host_name("expert_matmul_q8")]] kernel decltype(expert_matmul<Q8, half, true>) expert_matmul<Q8, half, true>;
template [[host_name("expert_matmul_q4")]] kernel decltype(expert_matmul<Q4, half, true>) expert_matmul<Q4, half, true>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 8 "Shaders/expert_matmul.metal"
#include "Shaders/common.h"
#include "Shaders/args/experts.h"

MSL_CONSTANT constexpr uint kRows = 8;


struct F32 {};
struct F16 {};
struct BF16 {};
struct Q8 {};
struct Q4 {};


METAL_FUNC float4 load_four(F32 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  return *(MSL_DEVICE const float4*)(w + at);
}

METAL_FUNC float half_of(uint word, uint shift) { return float(as_type<half>(ushort(word >> shift & 0xffffu))); }

METAL_FUNC float4 load_four(F16 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint2 words = *(MSL_DEVICE const uint2*)(w + at / 2);
  return float4(half_of(words.x, 0), half_of(words.x, 16), half_of(words.y, 0), half_of(words.y, 16));
}

METAL_FUNC float4 load_four(BF16 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint2 words = *(MSL_DEVICE const uint2*)(w + at / 2);
  return float4(as_type<float>(words.x << 16), as_type<float>(words.x & 0xffff0000u), as_type<float>(words.y << 16),
                as_type<float>(words.y & 0xffff0000u));
}

METAL_FUNC float4 load_four(Q8 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint word = w[at / 4];
  return float4(signed_byte(word, 0), signed_byte(word, 1), signed_byte(word, 2), signed_byte(word, 3));
}

METAL_FUNC float4 load_four(Q4 format, MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong at) {
  const uint word = w[at / 8] >> (at % 8 * 4);
  const uint step = uint(steps[at / 32]) & 0xffu;
  const uint offset = uint(steps[at / 32]) >> 8;
  return float4(stepped_nibble(word, 0, step, offset), stepped_nibble(word, 1, step, offset),
                stepped_nibble(word, 2, step, offset), stepped_nibble(word, 3, step, offset));
}

template <typename X>
METAL_FUNC float x_at(MSL_DEVICE const X* row, uint k, uint cols) {
  return k < cols ? float(row[k]) : 0.0f;
}


template <typename X>
METAL_FUNC float add_four(MSL_DEVICE const X* row, uint k, uint cols, float4 four, float sum) {
  sum = fma(x_at(row, k, cols), four.x, sum);
  sum = fma(x_at(row, k + 1, cols), four.y, sum);
  sum = fma(x_at(row, k + 2, cols), four.z, sum);
  return fma(x_at(row, k + 3, cols), four.w, sum);
}


template <typename FORMAT, typename X>
METAL_FUNC void multiply_rows(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, ulong w_at, MSL_DEVICE const X* x,
                              MSL_THREAD const ulong (&rows)[kRows], uint count, uint cols, uint lane,
                              MSL_THREAD float (&sums)[kRows]) {
#pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    sums[r] = 0.0f;
  }
  for (uint k = lane * 4; k < cols; k += 128) {
    const float4 four = load_four(FORMAT(), w, steps, w_at + k);
#pragma unroll
    for (uint r = 0; r < kRows; ++r) {
      sums[r] = r < count ? add_four(x + rows[r], k, cols, four, sums[r]) : 0.0f;
    }
  }
#pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    sums[r] = simd_sum(sums[r]);
  }
}


template <typename FORMAT, typename X, bool SCALED>

MSL_KERNEL void expert_matmul(MSL_DEVICE const X* x ,
                          MSL_DEVICE const float* x_scales ,
                          MSL_DEVICE const uint* w ,
                          MSL_DEVICE const ushort* w_steps ,
                          MSL_DEVICE const float* w_scales ,
                          MSL_DEVICE const uint* order ,
                          MSL_DEVICE const uint* tiles ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::ExpertMatmul& args ,
                          uint2 tg ,
                          uint sg ,
                          uint lane ) {
  const uint count = tiles[tg.y * 4 + 2];
  const uint n = tg.x * 4 + sg;
  if (count == 0 || n >= args.out_cols) {
    return;
  }
  MSL_DEVICE const uint* slots = order + tiles[tg.y * 4 + 1];
  ulong rows[kRows];
#pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    rows[r] = ulong(slots[r < count ? r : 0] / args.x_share) * ulong(args.x_stride);
  }
  const uint w_row = tiles[tg.y * 4] * args.expert_rows + n;
  float sums[kRows];
  float others[kRows];
  multiply_rows<FORMAT, X>(w, w_steps, ulong(w_row) * args.padded_cols, x, rows, count, args.cols, lane, sums);
  if (args.silu_mul != 0) {
    const ulong at = ulong(w_row + args.out_cols) * args.padded_cols;
    multiply_rows<FORMAT, X>(w, w_steps, at, x, rows, count, args.cols, lane, others);
  }
#pragma unroll
  for (uint r = 0; r < kRows; ++r) {
    if (lane == r && r < count) {
      const float x_scale = SCALED ? x_scales[slots[r] / args.x_share] : 1.0f;
      float value = SCALED ? sums[r] * x_scale * w_scales[w_row] : sums[r];
      if (args.silu_mul != 0) {
        value = silu(value) * (SCALED ? others[r] * x_scale * w_scales[w_row + args.out_cols] : others[r]);
      }
      out[long(slots[r]) * args.out_stride + n] = value;
    }
  }
}

# 1 "expert_matmul.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_matmul_f32)
extern "C" __global__ void __launch_bounds__(128) expert_matmul_f32(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertMatmul args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_matmul<F32, float, false>(x, x_scales, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_matmul_f16)
extern "C" __global__ void __launch_bounds__(128) expert_matmul_f16(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertMatmul args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_matmul<F16, float, false>(x, x_scales, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_matmul_bf16)
extern "C" __global__ void __launch_bounds__(128) expert_matmul_bf16(const float* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertMatmul args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_matmul<BF16, float, false>(x, x_scales, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_matmul_q8)
extern "C" __global__ void __launch_bounds__(128) expert_matmul_q8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertMatmul args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_matmul<Q8, half, true>(x, x_scales, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_matmul_q4)
extern "C" __global__ void __launch_bounds__(128) expert_matmul_q4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertMatmul args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_matmul<Q4, half, true>(x, x_scales, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
