// The text of matmul_tiles.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_tiles_source() noexcept {
  return {"matmul_tiles",
R"msl(#pragma METAL fp contract(off)
// matmul_tiles: the product of any number of rows with 16-bit, 8-bit and 4-bit weights; matmul.h has the layout and the
// order.
#include "matmul.h"

// 16 WT rows of weights against 64 rows of x; a simdgroup has half of each. A wide tile (WT = 8) reads less of both for
// a product, a narrow one (4) gives more threadgroups. Grid: [rows / 64, out_cols / (16 WT), or / (8 WT) with silu_mul]
template <typename T, uint BITS, uint WT>
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
  constexpr uint W_ROWS = 16 * WT;
#ifdef __MSL_PAIRED_MMA__
  constexpr uint LD = kChunk / 2 + 4;  // words of a row: rows start in different banks
  constexpr uint SCRATCH = 0;
#else
  constexpr uint LD = kChunk / 2 + (WT == 8 ? 0 : 4);  // what 32 KiB hold
  constexpr uint SCRATCH = 4 * kTileScratch / 2;
#endif
  constexpr uint STAGE = (W_ROWS + ROWS) * LD;
  constexpr uint PASS = ROWS / 2;  // rows of x whose sums are written at once
  constexpr uint SUMS = PASS * W_ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  threadgroup uint shared_words[SHARED];  // both operands and scratch first, then the sums
  threadgroup uint* w_tile = shared_words;
  threadgroup uint* x_tile = shared_words + W_ROWS * LD;
  threadgroup uint* scratch = shared_words + STAGE + sg * (SCRATCH / 4);

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * 32;
  // A thread stages 16 columns of WT / 2 rows of weights and of two rows of x.
  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  constexpr uint W_SHARES = WT / 2;
  ulong w_at[W_SHARES];
  ulong x_at[2];
  #pragma unroll
  for (uint i = 0; i < W_SHARES; ++i) {
    w_at[i] = ulong(weight_row(args, tg.y, stage_row + 32 * i, W_ROWS)) * args.padded_cols + tid % 4 * 16;
  }
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    x_at[i] = ulong(min(m0 + stage_row + 32 * i, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[WT][4];
  SumTile total[WT][4];
  #pragma unroll
  for (uint i = 0; i < WT; ++i) {
    #pragma unroll
    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[W_SHARES];
  uint x_next[2][kChunkTiles];
  #pragma unroll
  for (uint i = 0; i < W_SHARES; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
  }
  wait_for_inputs();
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
    #pragma unroll
    for (uint i = 0; i < W_SHARES; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      store_words(words, w_tile + (stage_row + 32 * i) * LD + stage_word);
    }
    #pragma unroll
    for (uint i = 0; i < 2; ++i) {
      store_words(x_next[i], x_tile + (stage_row + 32 * i) * LD + stage_word);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {
      #pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
      }
      #pragma unroll
      for (uint i = 0; i < 2; ++i) {
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[4][kChunkTiles];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {
      load_words((threadgroup const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
    #pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
      #pragma unroll
      for (uint j = 0; j < 2; ++j) {
        load_words((threadgroup const uint*)(w_tile + (sg_n + 8 * (i + j) + lane / 4) * LD + lane % 4 * 8), w_words[j]);
      }
      pair_multiply<T, WT, 4>(acc, i, w_words, x_words, scratch, lane);
    }
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;
      #pragma unroll
      for (uint i = 0; i < WT; ++i) {
        #pragma unroll
        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  threadgroup float* sums = (threadgroup float*)(shared_words);  // [x][weights]
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
  #pragma unroll
  for (uint first = 0; first < ROWS; first += PASS) {
    if (sg_m == first) {
      #pragma unroll
      for (uint i = 0; i < WT; ++i) {
        #pragma unroll
        for (uint t = 0; t < 4; ++t) {
          simdgroup_store(total[i][t], sums + 8 * t * W_ROWS + sg_n + 8 * i, W_ROWS, ulong2(0, 0), true);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < made * PASS; i += 128) {
      const uint r = i % made;
      const uint m = m0 + first + i / made;
      const uint column = tg.y * made + r;
      if (m < args.rows && column < args.out_cols) {
        write_out(args, x_scales, w_scales, bias, out, m, column, sums[i / made * W_ROWS + r],
                  args.silu_mul != 0 ? sums[i / made * W_ROWS + made + r] : 0.0f, true, BITS < 16);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

template [[host_name("matmul_tiles_f16_4")]] kernel decltype(matmul_tiles<half, 16, 4>) matmul_tiles<half, 16, 4>;
template [[host_name("matmul_tiles_f16_8")]] kernel decltype(matmul_tiles<half, 16, 8>) matmul_tiles<half, 16, 8>;
template [[host_name("matmul_tiles_bf16_4")]] kernel decltype(matmul_tiles<bfloat, 16, 4>) matmul_tiles<bfloat, 16, 4>;
template [[host_name("matmul_tiles_bf16_8")]] kernel decltype(matmul_tiles<bfloat, 16, 8>) matmul_tiles<bfloat, 16, 8>;
template [[host_name("matmul_tiles_q8_4")]] kernel decltype(matmul_tiles<half, 8, 4>) matmul_tiles<half, 8, 4>;
template [[host_name("matmul_tiles_q8_8")]] kernel decltype(matmul_tiles<half, 8, 8>) matmul_tiles<half, 8, 8>;
template [[host_name("matmul_tiles_q4_4")]] kernel decltype(matmul_tiles<half, 4, 4>) matmul_tiles<half, 4, 4>;
template [[host_name("matmul_tiles_q4_8")]] kernel decltype(matmul_tiles<half, 4, 8>) matmul_tiles<half, 4, 8>;
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 3 "Shaders/matmul_tiles.metal"
#include "Shaders/matmul.h"
# 7 "Shaders/matmul_tiles.metal"
template <typename T, uint BITS, uint WT>

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
  constexpr uint W_ROWS = 16 * WT;

  constexpr uint LD = kChunk / 2 + 4;
  constexpr uint SCRATCH = 0;
# 30 "Shaders/matmul_tiles.metal"
  constexpr uint STAGE = (W_ROWS + ROWS) * LD;
  constexpr uint PASS = ROWS / 2;
  constexpr uint SUMS = PASS * W_ROWS;
  constexpr uint SHARED = STAGE + SCRATCH > SUMS ? STAGE + SCRATCH : SUMS;
  MSL_TG_VAR(1, shared_words, [SHARED], uint)
  MSL_THREADGROUP uint* w_tile = shared_words;
  MSL_THREADGROUP uint* x_tile = shared_words + W_ROWS * LD;
  MSL_THREADGROUP uint* scratch = shared_words + STAGE + sg * (SCRATCH / 4);

  const uint m0 = tg.x * ROWS;
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * 32;

  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  constexpr uint W_SHARES = WT / 2;
  ulong w_at[W_SHARES];
  ulong x_at[2];
#pragma unroll
  for (uint i = 0; i < W_SHARES; ++i) {
    w_at[i] = ulong(weight_row(args, tg.y, stage_row + 32 * i, W_ROWS)) * args.padded_cols + tid % 4 * 16;
  }
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    x_at[i] = ulong(min(m0 + stage_row + 32 * i, args.rows - 1)) * args.padded_cols + tid % 4 * 16;
  }
  SumTile acc[WT][4];
  SumTile total[WT][4];
#pragma unroll
  for (uint i = 0; i < WT; ++i) {
#pragma unroll
    for (uint t = 0; t < 4; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  Share<BITS> w_next[W_SHARES];
  uint x_next[2][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < W_SHARES; ++i) {
    load_share(w, w_steps, w_at[i], w_next[i]);
  }
  wait_for_inputs();
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = args.run;
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint i = 0; i < W_SHARES; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      store_words(words, w_tile + (stage_row + 32 * i) * LD + stage_word);
    }
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      store_words(x_next[i], x_tile + (stage_row + 32 * i) * LD + stage_word);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < args.padded_cols) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
      }
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[4][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      load_words((MSL_THREADGROUP const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
#pragma unroll
      for (uint j = 0; j < 2; ++j) {
        load_words((MSL_THREADGROUP const uint*)(w_tile + (sg_n + 8 * (i + j) + lane / 4) * LD + lane % 4 * 8), w_words[j]);
      }
      pair_multiply<T, WT, 4>(acc, i, w_words, x_words, scratch, lane);
    }
    if (k0 + kChunk >= min(run_end, args.padded_cols)) {
      run_end += args.run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < 4; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(shared_words);
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
#pragma unroll
  for (uint first = 0; first < ROWS; first += PASS) {
    if (sg_m == first) {
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < 4; ++t) {
          simdgroup_store(total[i][t], sums + 8 * t * W_ROWS + sg_n + 8 * i, W_ROWS, ulong2(0, 0), true);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < made * PASS; i += 128) {
      const uint r = i % made;
      const uint m = m0 + first + i / made;
      const uint column = tg.y * made + r;
      if (m < args.rows && column < args.out_cols) {
        write_out(args, x_scales, w_scales, bias, out, m, column, sums[i / made * W_ROWS + r],
                  args.silu_mul != 0 ? sums[i / made * W_ROWS + made + r] : 0.0f, true, BITS < 16);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

# 1 "matmul_tiles.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_f16_4)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_f16_4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<half, 16, 4>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_f16_8)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_f16_8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<half, 16, 8>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_bf16_4)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_bf16_4(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<bfloat, 16, 4>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_bf16_8)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_bf16_8(const bfloat* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<bfloat, 16, 8>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_q8_4)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_q8_4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<half, 8, 4>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_q8_8)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_q8_8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<half, 8, 8>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_q4_4)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_q4_4(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<half, 4, 4>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
#if !defined(MSL_ONLY) || defined(MSL_ONLY_matmul_tiles_q4_8)
extern "C" __global__ void __launch_bounds__(128) matmul_tiles_q4_8(const half* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) {
  msl_let_dependents_begin();
  matmul_tiles<half, 4, 8>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
