// The text of matmul_tiles.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_tiles_source() noexcept {
  return {"matmul_tiles",
R"msl(#include "matmul_tile.h"
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
  constexpr uint TERMS = BITS > 200 ? 8 : BITS > 100 ? 4 : 0;
  constexpr uint STAGE = (W_ROWS + ROWS) * kStagedWords + (TERMS > 0 ? kFactorWords : 0) + W_ROWS * TERMS;
  constexpr uint PASS = ROWS / 2;
  constexpr uint SUMS = PASS * W_ROWS;
  MSL_SHARED uint shared_words[STAGE > SUMS ? STAGE : SUMS];
  const uint m0 = tg.x * ROWS;
  constexpr uint W_SHARES = WT / 2;
  ulong w_at[W_SHARES];
  ulong x_at[2];
  #pragma unroll
  for (uint i = 0; i < W_SHARES; ++i) {
    w_at[i] = ulong(weight_row(args, tg.y, staged_row(tid, i), W_ROWS)) * args.padded_cols + tid % 4 * 16;
  }
  #pragma unroll
  for (uint i = 0; i < 2; ++i) {
    x_at[i] = ulong(min(m0 + tid / 4 + 32 * i, args.rows - 1)) * args.padded_cols + x_column<BITS>(tid);
  }
  SumTile total[WT][4];
  Share<BITS> w_next[W_SHARES];
  #pragma unroll
  for (uint i = 0; i < W_SHARES; ++i) {
    load_share(w, w_steps, args.scales, w_at[i], 0, w_next[i]);
  }
  wait_for_inputs();
  multiply_tile<T, BITS, WT, 4>(total, x, w, w_steps, x_at, w_at, w_next, args.scales, args.padded_cols, args.run,
                                shared_words, tid, sg, lane);
  threadgroup float* sums = (threadgroup float*)(shared_words);
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
  const uint r = tid % made;
  const uint column = tg.y * made + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);
  #pragma unroll
  for (uint first = 0; first < ROWS; first += PASS) {
    store_half<WT, 4>(total, sums, first, sg);
    for (uint i = tid; i < made * PASS; i += 128) {
      const uint m = m0 + first + i / made;
      if (m < args.rows && column < args.out_cols) {
        write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sums[i / made * W_ROWS + r],
                  args.silu_mul != 0 ? sums[i / made * W_ROWS + made + r] : 0.0f);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
MSL_INSTANCE(matmul_tiles_f16_4, matmul_tiles, half, 16, 4)
MSL_INSTANCE(matmul_tiles_f16_8, matmul_tiles, half, 16, 8)
MSL_INSTANCE(matmul_tiles_bf16_4, matmul_tiles, bfloat, 16, 4)
MSL_INSTANCE(matmul_tiles_bf16_8, matmul_tiles, bfloat, 16, 8)
MSL_INSTANCE(matmul_tiles_q8_4, matmul_tiles, bfloat, 8, 4)
MSL_INSTANCE(matmul_tiles_q8_8, matmul_tiles, bfloat, 8, 8)
MSL_INSTANCE(matmul_tiles_q4_4, matmul_tiles, bfloat, 4, 4)
MSL_INSTANCE(matmul_tiles_q4_8, matmul_tiles, bfloat, 4, 8)
MSL_INSTANCE(matmul_tiles_s4_4, matmul_tiles, bfloat, kStored4, 4)
MSL_INSTANCE(matmul_tiles_s8_4, matmul_tiles, bfloat, kStored8, 4)
MSL_INSTANCE(matmul_tiles_s8f_4, matmul_tiles, bfloat, kFine8, 4)
)msl",
R"msl(#define MSL_KERNEL_matmul_tiles(BOUNDS, T, BITS, WT) MSL_GLOBAL(BOUNDS)(const T* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, float* out, const pagoda_args::Matmul args) { msl_let_dependents_begin(); matmul_tiles<T, BITS, WT>(x, x_scales, w, w_steps, w_scales, bias, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_matmul_tiles_f16_4 MSL_KERNEL_matmul_tiles((128), half, 16, 4)
#define MSL_ENTRY_matmul_tiles_f16_8 MSL_KERNEL_matmul_tiles((128), half, 16, 8)
#define MSL_ENTRY_matmul_tiles_bf16_4 MSL_KERNEL_matmul_tiles((128), bfloat, 16, 4)
#define MSL_ENTRY_matmul_tiles_bf16_8 MSL_KERNEL_matmul_tiles((128), bfloat, 16, 8)
#define MSL_ENTRY_matmul_tiles_q8_4 MSL_KERNEL_matmul_tiles((128), bfloat, 8, 4)
#define MSL_ENTRY_matmul_tiles_q8_8 MSL_KERNEL_matmul_tiles((128), bfloat, 8, 8)
#define MSL_ENTRY_matmul_tiles_q4_4 MSL_KERNEL_matmul_tiles((128), bfloat, 4, 4)
#define MSL_ENTRY_matmul_tiles_q4_8 MSL_KERNEL_matmul_tiles((128), bfloat, 4, 8)
#define MSL_ENTRY_matmul_tiles_s4_4 MSL_KERNEL_matmul_tiles((128), bfloat, kStored4, 4)
#define MSL_ENTRY_matmul_tiles_s8_4 MSL_KERNEL_matmul_tiles((128), bfloat, kStored8, 4)
#define MSL_ENTRY_matmul_tiles_s8f_4 MSL_KERNEL_matmul_tiles((128), bfloat, kFine8, 4)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
