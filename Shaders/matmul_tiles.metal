// matmul_tiles: the product of any number of rows with 16-bit, 8-bit and 4-bit weights; matmul.h describes layout and
// order.
#include "matmul_tile.h"

// 16 WT rows of weights against 64 rows of x; each simdgroup has half of both. A wide tile (WT = 8) reads less of both
// per product, but is only for threads with 255 registers; a narrow one (4) gives more threadgroups. Grid: [rows / 64,
// out_cols / (16 WT), or / (8 WT) with silu_mul]
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
  constexpr uint TERMS = BITS > 200 ? 8 : BITS > 100 ? 4 : 0;  // per row of weights
  constexpr uint STAGE = (W_ROWS + ROWS) * kStagedWords + (TERMS > 0 ? kFactorWords : 0) + W_ROWS * TERMS;
  constexpr uint PASS = ROWS / 2;  // rows of x whose sums are written in one pass
  constexpr uint SUMS = PASS * W_ROWS;
  threadgroup uint shared_words[STAGE > SUMS ? STAGE : SUMS];  // first both operands, then the sums

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

  threadgroup float* sums = (threadgroup float*)(shared_words);  // [x][weights]
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
  const uint r = tid % made;  // the same for all outputs of the thread
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

template [[host_name("matmul_tiles_f16_4")]] kernel decltype(matmul_tiles<half, 16, 4>) matmul_tiles<half, 16, 4>;
template [[host_name("matmul_tiles_f16_8")]] kernel decltype(matmul_tiles<half, 16, 8>) matmul_tiles<half, 16, 8>;
template [[host_name("matmul_tiles_bf16_4")]] kernel decltype(matmul_tiles<bfloat, 16, 4>) matmul_tiles<bfloat, 16, 4>;
template [[host_name("matmul_tiles_bf16_8")]] kernel decltype(matmul_tiles<bfloat, 16, 8>) matmul_tiles<bfloat, 16, 8>;
template [[host_name("matmul_tiles_q8_4")]] kernel decltype(matmul_tiles<bfloat, 8, 4>) matmul_tiles<bfloat, 8, 4>;
template [[host_name("matmul_tiles_q8_8")]] kernel decltype(matmul_tiles<bfloat, 8, 8>) matmul_tiles<bfloat, 8, 8>;
template [[host_name("matmul_tiles_q4_4")]] kernel decltype(matmul_tiles<bfloat, 4, 4>) matmul_tiles<bfloat, 4, 4>;
template [[host_name("matmul_tiles_q4_8")]] kernel decltype(matmul_tiles<bfloat, 4, 8>) matmul_tiles<bfloat, 4, 8>;
template [[host_name("matmul_tiles_s4_4")]]
kernel decltype(matmul_tiles<bfloat, kStored4, 4>) matmul_tiles<bfloat, kStored4, 4>;
template [[host_name("matmul_tiles_s8_4")]]
kernel decltype(matmul_tiles<bfloat, kStored8, 4>) matmul_tiles<bfloat, kStored8, 4>;
template [[host_name("matmul_tiles_s8f_4")]]
kernel decltype(matmul_tiles<bfloat, kFine8, 4>) matmul_tiles<bfloat, kFine8, 4>;
