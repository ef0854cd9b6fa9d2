// The text of matmul_tiles.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_tiles_source() noexcept {
  return {"matmul_tiles",
R"msl(#pragma METAL fp contract(off)
// matmul_tiles: the product of any number of rows with 16-bit, 8-bit and 4-bit weights; matmul.h has the layout and the
// order.
#include "matmul.h"

// 64 rows of weights against 64 rows of x; a simdgroup has 32 of each. Grid: [rows / 64, out_cols / 64, or / 32]
template <typename T, uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_tiles(device const T* x [[buffer(0)]],
                         device const float* x_scales [[buffer(1)]],
                         device const uint* w [[buffer(2)]],
                         device const ushort* w_steps [[buffer(3)]],
                         device const float* w_scales [[buffer(4)]],
                         device const float* bias [[buffer(5)]],
                         device float* out [[buffer(6)]],
                         constant pagoda_args::Matmul& args [[buffer(7)]],
                         uint2 tg [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint ROWS = 64;
  constexpr uint LD = kChunk / 2 + 4;  // words of a row: rows start in different banks
  constexpr uint STAGE = 2 * ROWS * LD;
  constexpr uint SCRATCH = 4 * kTileScratch;
  constexpr uint SUMS = ROWS * ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  threadgroup uint shared_words[SHARED];  // both operands and scratch first, then the sums
  threadgroup uint* w_tile = shared_words;
  threadgroup uint* x_tile = shared_words + ROWS * LD;
  threadgroup uint* scratch = shared_words + STAGE + sg * kTileScratch;

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;
  // A thread stages 16 columns of two rows of each operand.
  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  ulong w_at[2];
  ulong x_at[2];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    const uint r = stage_row + 32 * i;
    w_at[i] = ulong(weight_row(args, tg.y, r, ROWS)) * args.padded_cols + tid % 4 * 16;
    x_at[i] = ulong(min(m0 + r, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[4][4];
  SumTile total[4][4];
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    #pragma unroll
    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[2];
  uint x_next[2][kChunkTiles];
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
    #pragma unroll
    for (uint i = 0; i < 2; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      const uint at = (stage_row + 32 * i) * LD + stage_word;
      store_words(words, w_tile + at);
      store_words(x_next[i], x_tile + at);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint w_words[4][kChunkTiles];
    uint x_words[4][kChunkTiles];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      load_words((threadgroup const uint*)(w_tile + (sg_n + 8 * i + lane / 4) * LD + lane % 4 * 8), w_words[i]);
      load_words((threadgroup const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
    chunk_multiply<T, 4, 4>(acc, w_words, x_words, scratch, lane);
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;
      #pragma unroll
      for (uint i = 0; i < 4; ++i) {
        #pragma unroll
        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  threadgroup float* sums = (threadgroup float*)(shared_words);  // [x][weights]
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    #pragma unroll
    for (uint t = 0; t < 4; ++t) {
      simdgroup_store(total[i][t], sums + (sg_m + 8 * t) * ROWS + sg_n + 8 * i, ROWS, ulong2(0, 0), true);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; i < made * ROWS; i += 128) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg.y * made + r;
    if (m0 + m < args.rows && column < args.out_cols) {
      write_out(args, x_scales, w_scales, bias, out, m0 + m, column, sums[m * ROWS + r],
                args.silu_mul != 0 ? sums[m * ROWS + made + r] : 0.0f, true, BITS < 16);
    }
  }
}

#define INSTANTIATE(NAME, T, BITS) \
  template [[host_name("matmul_tiles_" NAME)]] kernel decltype(matmul_tiles<T, BITS>) matmul_tiles<T, BITS>;

INSTANTIATE("f16", half, 16)
INSTANTIATE("bf16", bfloat, 16)
INSTANTIATE("q8", half, 8)
INSTANTIATE("q4", half, 4)
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 3 "Shaders/matmul_tiles.metal"
#include "Shaders/matmul.h"


template <typename T, uint BITS>

MSL_KERNEL void matmul_tiles(MSL_DEVICE const T* x ,
                         MSL_DEVICE const float* x_scales ,
                         MSL_DEVICE const uint* w ,
                         MSL_DEVICE const ushort* w_steps ,
                         MSL_DEVICE const float* w_scales ,
                         MSL_DEVICE const float* bias ,
                         MSL_DEVICE float* out ,
                         MSL_CONSTANT pagoda_args::Matmul& args ,
                         uint2 tg ,
                         uint tid ,
                         uint sg ,
                         uint lane ) {
  constexpr uint ROWS = 64;
  constexpr uint LD = kChunk / 2 + 4;
  constexpr uint STAGE = 2 * ROWS * LD;
  constexpr uint SCRATCH = 4 * kTileScratch;
  constexpr uint SUMS = ROWS * ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  MSL_TG_VAR(1, shared_words, [SHARED], uint)
  MSL_THREADGROUP uint* w_tile = shared_words;
  MSL_THREADGROUP uint* x_tile = shared_words + ROWS * LD;
  MSL_THREADGROUP uint* scratch = shared_words + STAGE + sg * kTileScratch;

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * 32;
  const uint sg_m = (sg % 2) * 32;

  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  ulong w_at[2];
  ulong x_at[2];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    const uint r = stage_row + 32 * i;
    w_at[i] = ulong(weight_row(args, tg.y, r, ROWS)) * args.padded_cols + tid % 4 * 16;
    x_at[i] = ulong(min(m0 + r, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[4][4];
  SumTile total[4][4];
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
#pragma unroll
    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[2];
  uint x_next[2][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      const uint at = (stage_row + 32 * i) * LD + stage_word;
      store_words(words, w_tile + at);
      store_words(x_next[i], x_tile + at);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint w_words[4][kChunkTiles];
    uint x_words[4][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      load_words((MSL_THREADGROUP const uint*)(w_tile + (sg_n + 8 * i + lane / 4) * LD + lane % 4 * 8), w_words[i]);
      load_words((MSL_THREADGROUP const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
    chunk_multiply<T, 4, 4>(acc, w_words, x_words, scratch, lane);
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;
#pragma unroll
      for (uint i = 0; i < 4; ++i) {
#pragma unroll
        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(shared_words);
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
#pragma unroll
    for (uint t = 0; t < 4; ++t) {
      simdgroup_store(total[i][t], sums + (sg_m + 8 * t) * ROWS + sg_n + 8 * i, ROWS, ulong2(0, 0), true);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? ROWS / 2 : ROWS;
  for (uint i = tid; i < made * ROWS; i += 128) {
    const uint r = i % made;
    const uint m = i / made;
    const uint column = tg.y * made + r;
    if (m0 + m < args.rows && column < args.out_cols) {
      write_out(args, x_scales, w_scales, bias, out, m0 + m, column, sums[m * ROWS + r],
                args.silu_mul != 0 ? sums[m * ROWS + made + r] : 0.0f, true, BITS < 16);
    }
  }
}

# 1 "matmul_tiles.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_f16)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_f16(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  matmul_tiles<half, 16>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_bf16)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_bf16(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  matmul_tiles<bfloat, 16>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_q8)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_q8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  matmul_tiles<half, 8>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_q4)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_q4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  matmul_tiles<half, 4>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
