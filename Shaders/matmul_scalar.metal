// matmul_scalar: the product of up to four rows with 16-bit, 8-bit and 4-bit weights, and those of stored formats,
// without matrix units; scalar.h describes the order. It is used only if the bits are those of matmul_few.
#include "row_source.h"
#include "stored_scalar.h"

// Up to M rows of x against 32 rows of weights, one per lane; each simdgroup has one run of columns. X: float if
// activations need no preparation or, with MADE, are computed here; half if they are prepared.
// Grid: [out_cols / 32, twice as many with silu_mul]
template <typename T, typename X, uint BITS, bool MADE, uint M>
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_scalar(device const X* x [[buffer(0)]],
                          device const float* x_scales [[buffer(1)]],
                          device const uint* w [[buffer(2)]],
                          device const ushort* w_steps [[buffer(3)]],
                          device const float* w_scales [[buffer(4)]],
                          device const float* bias [[buffer(5)]],
                          device const float* weight [[buffer(6)]],
                          device const float* gate [[buffer(7)]],
                          device float* out [[buffer(8)]],
                          constant pagoda_args::Matmul& args [[buffer(9)]],
                          uint tg [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint SHARED = kRuns * M * kStaged;
  constexpr uint MADE_WORDS = MADE ? M * (kMostHeads + kRowSimdgroups) : 0;
  threadgroup float shared_words[SHARED + MADE_WORDS];  // rows of x, then the sums of all runs; then scales
  threadgroup float* scales = shared_words + SHARED;
  threadgroup float* parts = scales + M * kMostHeads;
  threadgroup float* staged = shared_words + sg * M * kStaged;
  const ulong w_at = ulong(weight_row(args, tg, lane, kScalarRows)) * args.padded_cols;
  const uint begin = sg * args.run;
  const uint end = min((sg + 1) * args.run, args.padded_cols);
  wait_for_inputs();
  // Only saves work: rows that are already computed have no source, and so no scales.
  if (MADE) {
    row_scales((device const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  float sums[M];
  #pragma unroll
  for (uint m = 0; m < M; ++m) {
    sums[m] = 0.0f;
  }
  for (uint k0 = begin; k0 < end; k0 += kStaged) {
    Line<BITS> first;
    Line<BITS> second;
    load_line(w, w_steps, args.scales, w_at + k0, first);
    load_line(w, w_steps, args.scales, w_at + min(k0 + kChunk, end - kChunk), second);
    const uint column = staged_column(k0, end, lane);
    #pragma unroll
    for (uint m = 0; m < M; ++m) {
      const uint row = min(m, args.rows - 1);
      device const X* from = x + long(row) * args.x_stride;
      if (MADE) {
        const uint head = column / args.source.dim;  // the same for all four
        const uint d = column % args.source.dim;
        const float scale = args.source.kind == kSigmoidGate ? 1.0f : scales[row * args.source.heads + head];
        stage_quad<BITS>(rounded(row_elements((device const float*)(from) + long(head) * args.source.x_head_stride + d,
                                        weight + d,
                                        gate + long(row) * args.source.gate_stride +
                                            long(head) * args.source.gate_head_stride + d,
                                        args.source, scale)),
                   staged + m * kStaged, lane);
      } else {
        stage_quad<BITS>(load_quad(from + column), staged + m * kStaged, lane);
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup const float* columns = staged;
    const float x_sums = staged_sums<BITS, M>(Stored<(BITS > 100)>(), args.scales, columns, lane);
    multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), first, args.scales, columns, x_sums, 0, sums);
    if (k0 + kChunk < end) {
      multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), second, args.scales, columns, x_sums, 1, sums);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  #pragma unroll
  for (uint m = 0; m < M; ++m) {
    shared_words[(sg * M + m) * kScalarRows + lane] = sums[m];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint made = args.silu_mul != 0 ? kScalarRows / 2 : kScalarRows;  // columns of out
  const uint r = tid % made;
  const uint m = tid / made;
  const uint column = tg * made + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);
  if (m < args.rows && column < args.out_cols) {
    float sum = 0.0f;
    float other = 0.0f;
    #pragma unroll
    for (uint run = 0; run < kRuns; ++run) {
      sum += shared_words[(run * M + m) * kScalarRows + r];
      // Only saves work: other products do not use this sum.
      if (args.silu_mul != 0) {
        other += shared_words[(run * M + m) * kScalarRows + made + r];
      }
    }
    write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sum, other);
  }
}

template [[host_name("matmul_scalar_f16_1")]]
kernel decltype(matmul_scalar<half, half, 16, false, 1>) matmul_scalar<half, half, 16, false, 1>;
template [[host_name("matmul_scalar_f16_2")]]
kernel decltype(matmul_scalar<half, half, 16, false, 2>) matmul_scalar<half, half, 16, false, 2>;
template [[host_name("matmul_scalar_f16_4")]]
kernel decltype(matmul_scalar<half, half, 16, false, 4>) matmul_scalar<half, half, 16, false, 4>;
template [[host_name("matmul_scalar_direct_bf16_1")]]
kernel decltype(matmul_scalar<bfloat, float, 16, false, 1>) matmul_scalar<bfloat, float, 16, false, 1>;
template [[host_name("matmul_scalar_direct_bf16_2")]]
kernel decltype(matmul_scalar<bfloat, float, 16, false, 2>) matmul_scalar<bfloat, float, 16, false, 2>;
template [[host_name("matmul_scalar_direct_bf16_4")]]
kernel decltype(matmul_scalar<bfloat, float, 16, false, 4>) matmul_scalar<bfloat, float, 16, false, 4>;
template [[host_name("matmul_scalar_made_bf16_1")]]
kernel decltype(matmul_scalar<bfloat, float, 16, true, 1>) matmul_scalar<bfloat, float, 16, true, 1>;
template [[host_name("matmul_scalar_made_bf16_2")]]
kernel decltype(matmul_scalar<bfloat, float, 16, true, 2>) matmul_scalar<bfloat, float, 16, true, 2>;
template [[host_name("matmul_scalar_made_bf16_4")]]
kernel decltype(matmul_scalar<bfloat, float, 16, true, 4>) matmul_scalar<bfloat, float, 16, true, 4>;
template [[host_name("matmul_scalar_direct_q8_1")]]
kernel decltype(matmul_scalar<bfloat, float, 8, false, 1>) matmul_scalar<bfloat, float, 8, false, 1>;
template [[host_name("matmul_scalar_direct_q8_2")]]
kernel decltype(matmul_scalar<bfloat, float, 8, false, 2>) matmul_scalar<bfloat, float, 8, false, 2>;
template [[host_name("matmul_scalar_direct_q8_4")]]
kernel decltype(matmul_scalar<bfloat, float, 8, false, 4>) matmul_scalar<bfloat, float, 8, false, 4>;
template [[host_name("matmul_scalar_made_q8_1")]]
kernel decltype(matmul_scalar<bfloat, float, 8, true, 1>) matmul_scalar<bfloat, float, 8, true, 1>;
template [[host_name("matmul_scalar_made_q8_2")]]
kernel decltype(matmul_scalar<bfloat, float, 8, true, 2>) matmul_scalar<bfloat, float, 8, true, 2>;
template [[host_name("matmul_scalar_made_q8_4")]]
kernel decltype(matmul_scalar<bfloat, float, 8, true, 4>) matmul_scalar<bfloat, float, 8, true, 4>;
template [[host_name("matmul_scalar_direct_q4_1")]]
kernel decltype(matmul_scalar<bfloat, float, 4, false, 1>) matmul_scalar<bfloat, float, 4, false, 1>;
template [[host_name("matmul_scalar_direct_q4_2")]]
kernel decltype(matmul_scalar<bfloat, float, 4, false, 2>) matmul_scalar<bfloat, float, 4, false, 2>;
template [[host_name("matmul_scalar_direct_q4_4")]]
kernel decltype(matmul_scalar<bfloat, float, 4, false, 4>) matmul_scalar<bfloat, float, 4, false, 4>;
template [[host_name("matmul_scalar_made_q4_1")]]
kernel decltype(matmul_scalar<bfloat, float, 4, true, 1>) matmul_scalar<bfloat, float, 4, true, 1>;
template [[host_name("matmul_scalar_made_q4_2")]]
kernel decltype(matmul_scalar<bfloat, float, 4, true, 2>) matmul_scalar<bfloat, float, 4, true, 2>;
template [[host_name("matmul_scalar_made_q4_4")]]
kernel decltype(matmul_scalar<bfloat, float, 4, true, 4>) matmul_scalar<bfloat, float, 4, true, 4>;
template [[host_name("matmul_scalar_direct_s4_1")]]
kernel decltype(matmul_scalar<bfloat, float, kStored4, false, 1>) matmul_scalar<bfloat, float, kStored4, false, 1>;
template [[host_name("matmul_scalar_direct_s4_2")]]
kernel decltype(matmul_scalar<bfloat, float, kStored4, false, 2>) matmul_scalar<bfloat, float, kStored4, false, 2>;
template [[host_name("matmul_scalar_direct_s4_4")]]
kernel decltype(matmul_scalar<bfloat, float, kStored4, false, 4>) matmul_scalar<bfloat, float, kStored4, false, 4>;
template [[host_name("matmul_scalar_made_s4_1")]]
kernel decltype(matmul_scalar<bfloat, float, kStored4, true, 1>) matmul_scalar<bfloat, float, kStored4, true, 1>;
template [[host_name("matmul_scalar_made_s4_2")]]
kernel decltype(matmul_scalar<bfloat, float, kStored4, true, 2>) matmul_scalar<bfloat, float, kStored4, true, 2>;
template [[host_name("matmul_scalar_made_s4_4")]]
kernel decltype(matmul_scalar<bfloat, float, kStored4, true, 4>) matmul_scalar<bfloat, float, kStored4, true, 4>;
template [[host_name("matmul_scalar_direct_s8_1")]]
kernel decltype(matmul_scalar<bfloat, float, kStored8, false, 1>) matmul_scalar<bfloat, float, kStored8, false, 1>;
template [[host_name("matmul_scalar_direct_s8_2")]]
kernel decltype(matmul_scalar<bfloat, float, kStored8, false, 2>) matmul_scalar<bfloat, float, kStored8, false, 2>;
template [[host_name("matmul_scalar_direct_s8_4")]]
kernel decltype(matmul_scalar<bfloat, float, kStored8, false, 4>) matmul_scalar<bfloat, float, kStored8, false, 4>;
template [[host_name("matmul_scalar_made_s8_1")]]
kernel decltype(matmul_scalar<bfloat, float, kStored8, true, 1>) matmul_scalar<bfloat, float, kStored8, true, 1>;
template [[host_name("matmul_scalar_made_s8_2")]]
kernel decltype(matmul_scalar<bfloat, float, kStored8, true, 2>) matmul_scalar<bfloat, float, kStored8, true, 2>;
template [[host_name("matmul_scalar_made_s8_4")]]
kernel decltype(matmul_scalar<bfloat, float, kStored8, true, 4>) matmul_scalar<bfloat, float, kStored8, true, 4>;
template [[host_name("matmul_scalar_direct_s8f_1")]]
kernel decltype(matmul_scalar<bfloat, float, kFine8, false, 1>) matmul_scalar<bfloat, float, kFine8, false, 1>;
template [[host_name("matmul_scalar_direct_s8f_2")]]
kernel decltype(matmul_scalar<bfloat, float, kFine8, false, 2>) matmul_scalar<bfloat, float, kFine8, false, 2>;
template [[host_name("matmul_scalar_direct_s8f_4")]]
kernel decltype(matmul_scalar<bfloat, float, kFine8, false, 4>) matmul_scalar<bfloat, float, kFine8, false, 4>;
template [[host_name("matmul_scalar_made_s8f_1")]]
kernel decltype(matmul_scalar<bfloat, float, kFine8, true, 1>) matmul_scalar<bfloat, float, kFine8, true, 1>;
template [[host_name("matmul_scalar_made_s8f_2")]]
kernel decltype(matmul_scalar<bfloat, float, kFine8, true, 2>) matmul_scalar<bfloat, float, kFine8, true, 2>;
template [[host_name("matmul_scalar_made_s8f_4")]]
kernel decltype(matmul_scalar<bfloat, float, kFine8, true, 4>) matmul_scalar<bfloat, float, kFine8, true, 4>;
