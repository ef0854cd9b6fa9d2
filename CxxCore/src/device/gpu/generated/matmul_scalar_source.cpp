// The text of matmul_scalar.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource matmul_scalar_source() noexcept {
  return {"matmul_scalar",
R"msl(#include "row_source.h"
#include "stored_scalar.h"
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
  MSL_SHARED float shared_words[SHARED + MADE_WORDS];
  threadgroup float* scales = shared_words + SHARED;
  threadgroup float* parts = scales + M * kMostHeads;
  threadgroup float* staged = shared_words + sg * M * kStaged;
  const ulong w_at = ulong(weight_row(args, tg, lane, kScalarRows)) * args.padded_cols;
  const uint begin = sg * args.run;
  const uint end = min((sg + 1) * args.run, args.padded_cols);
  wait_for_inputs();
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
        const uint head = column / args.source.dim;
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
  const uint made = args.silu_mul != 0 ? kScalarRows / 2 : kScalarRows;
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
      if (args.silu_mul != 0) {
        other += shared_words[(run * M + m) * kScalarRows + made + r];
      }
    }
    write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sum, other);
  }
}
MSL_INSTANCE(matmul_scalar_f16_1, matmul_scalar, half, half, 16, false, 1)
MSL_INSTANCE(matmul_scalar_f16_2, matmul_scalar, half, half, 16, false, 2)
MSL_INSTANCE(matmul_scalar_f16_4, matmul_scalar, half, half, 16, false, 4)
MSL_INSTANCE(matmul_scalar_direct_bf16_1, matmul_scalar, bfloat, float, 16, false, 1)
MSL_INSTANCE(matmul_scalar_direct_bf16_2, matmul_scalar, bfloat, float, 16, false, 2)
MSL_INSTANCE(matmul_scalar_direct_bf16_4, matmul_scalar, bfloat, float, 16, false, 4)
MSL_INSTANCE(matmul_scalar_made_bf16_1, matmul_scalar, bfloat, float, 16, true, 1)
MSL_INSTANCE(matmul_scalar_made_bf16_2, matmul_scalar, bfloat, float, 16, true, 2)
MSL_INSTANCE(matmul_scalar_made_bf16_4, matmul_scalar, bfloat, float, 16, true, 4)
MSL_INSTANCE(matmul_scalar_direct_q8_1, matmul_scalar, bfloat, float, 8, false, 1)
MSL_INSTANCE(matmul_scalar_direct_q8_2, matmul_scalar, bfloat, float, 8, false, 2)
MSL_INSTANCE(matmul_scalar_direct_q8_4, matmul_scalar, bfloat, float, 8, false, 4)
MSL_INSTANCE(matmul_scalar_made_q8_1, matmul_scalar, bfloat, float, 8, true, 1)
MSL_INSTANCE(matmul_scalar_made_q8_2, matmul_scalar, bfloat, float, 8, true, 2)
MSL_INSTANCE(matmul_scalar_made_q8_4, matmul_scalar, bfloat, float, 8, true, 4)
MSL_INSTANCE(matmul_scalar_direct_q4_1, matmul_scalar, bfloat, float, 4, false, 1)
MSL_INSTANCE(matmul_scalar_direct_q4_2, matmul_scalar, bfloat, float, 4, false, 2)
MSL_INSTANCE(matmul_scalar_direct_q4_4, matmul_scalar, bfloat, float, 4, false, 4)
MSL_INSTANCE(matmul_scalar_made_q4_1, matmul_scalar, bfloat, float, 4, true, 1)
MSL_INSTANCE(matmul_scalar_made_q4_2, matmul_scalar, bfloat, float, 4, true, 2)
MSL_INSTANCE(matmul_scalar_made_q4_4, matmul_scalar, bfloat, float, 4, true, 4)
MSL_INSTANCE(matmul_scalar_direct_s4_1, matmul_scalar, bfloat, float, kStored4, false, 1)
MSL_INSTANCE(matmul_scalar_direct_s4_2, matmul_scalar, bfloat, float, kStored4, false, 2)
MSL_INSTANCE(matmul_scalar_direct_s4_4, matmul_scalar, bfloat, float, kStored4, false, 4)
MSL_INSTANCE(matmul_scalar_made_s4_1, matmul_scalar, bfloat, float, kStored4, true, 1)
MSL_INSTANCE(matmul_scalar_made_s4_2, matmul_scalar, bfloat, float, kStored4, true, 2)
MSL_INSTANCE(matmul_scalar_made_s4_4, matmul_scalar, bfloat, float, kStored4, true, 4)
MSL_INSTANCE(matmul_scalar_direct_s8_1, matmul_scalar, bfloat, float, kStored8, false, 1)
MSL_INSTANCE(matmul_scalar_direct_s8_2, matmul_scalar, bfloat, float, kStored8, false, 2)
MSL_INSTANCE(matmul_scalar_direct_s8_4, matmul_scalar, bfloat, float, kStored8, false, 4)
MSL_INSTANCE(matmul_scalar_made_s8_1, matmul_scalar, bfloat, float, kStored8, true, 1)
MSL_INSTANCE(matmul_scalar_made_s8_2, matmul_scalar, bfloat, float, kStored8, true, 2)
MSL_INSTANCE(matmul_scalar_made_s8_4, matmul_scalar, bfloat, float, kStored8, true, 4)
MSL_INSTANCE(matmul_scalar_direct_s8f_1, matmul_scalar, bfloat, float, kFine8, false, 1)
MSL_INSTANCE(matmul_scalar_direct_s8f_2, matmul_scalar, bfloat, float, kFine8, false, 2)
MSL_INSTANCE(matmul_scalar_direct_s8f_4, matmul_scalar, bfloat, float, kFine8, false, 4)
MSL_INSTANCE(matmul_scalar_made_s8f_1, matmul_scalar, bfloat, float, kFine8, true, 1)
MSL_INSTANCE(matmul_scalar_made_s8f_2, matmul_scalar, bfloat, float, kFine8, true, 2)
MSL_INSTANCE(matmul_scalar_made_s8f_4, matmul_scalar, bfloat, float, kFine8, true, 4)
)msl",
R"msl(#define MSL_KERNEL_matmul_scalar(BOUNDS, T, X, BITS, MADE, M) MSL_GLOBAL(BOUNDS)(const X* x, const float* x_scales, const uint* w, const ushort* w_steps, const float* w_scales, const float* bias, const float* weight, const float* gate, float* out, const pagoda_args::Matmul args) { msl_let_dependents_begin(); matmul_scalar<T, X, BITS, MADE, M>(x, x_scales, w, w_steps, w_scales, bias, weight, gate, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_matmul_scalar_f16_1 MSL_KERNEL_matmul_scalar((256), half, half, 16, false, 1)
#define MSL_ENTRY_matmul_scalar_f16_2 MSL_KERNEL_matmul_scalar((256), half, half, 16, false, 2)
#define MSL_ENTRY_matmul_scalar_f16_4 MSL_KERNEL_matmul_scalar((256), half, half, 16, false, 4)
#define MSL_ENTRY_matmul_scalar_direct_bf16_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, 16, false, 1)
#define MSL_ENTRY_matmul_scalar_direct_bf16_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, 16, false, 2)
#define MSL_ENTRY_matmul_scalar_direct_bf16_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, 16, false, 4)
#define MSL_ENTRY_matmul_scalar_made_bf16_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, 16, true, 1)
#define MSL_ENTRY_matmul_scalar_made_bf16_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, 16, true, 2)
#define MSL_ENTRY_matmul_scalar_made_bf16_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, 16, true, 4)
#define MSL_ENTRY_matmul_scalar_direct_q8_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, 8, false, 1)
#define MSL_ENTRY_matmul_scalar_direct_q8_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, 8, false, 2)
#define MSL_ENTRY_matmul_scalar_direct_q8_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, 8, false, 4)
#define MSL_ENTRY_matmul_scalar_made_q8_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, 8, true, 1)
#define MSL_ENTRY_matmul_scalar_made_q8_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, 8, true, 2)
#define MSL_ENTRY_matmul_scalar_made_q8_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, 8, true, 4)
#define MSL_ENTRY_matmul_scalar_direct_q4_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, 4, false, 1)
#define MSL_ENTRY_matmul_scalar_direct_q4_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, 4, false, 2)
#define MSL_ENTRY_matmul_scalar_direct_q4_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, 4, false, 4)
#define MSL_ENTRY_matmul_scalar_made_q4_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, 4, true, 1)
#define MSL_ENTRY_matmul_scalar_made_q4_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, 4, true, 2)
#define MSL_ENTRY_matmul_scalar_made_q4_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, 4, true, 4)
#define MSL_ENTRY_matmul_scalar_direct_s4_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored4, false, 1)
#define MSL_ENTRY_matmul_scalar_direct_s4_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored4, false, 2)
#define MSL_ENTRY_matmul_scalar_direct_s4_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored4, false, 4)
#define MSL_ENTRY_matmul_scalar_made_s4_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored4, true, 1)
#define MSL_ENTRY_matmul_scalar_made_s4_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored4, true, 2)
#define MSL_ENTRY_matmul_scalar_made_s4_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored4, true, 4)
#define MSL_ENTRY_matmul_scalar_direct_s8_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored8, false, 1)
#define MSL_ENTRY_matmul_scalar_direct_s8_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored8, false, 2)
#define MSL_ENTRY_matmul_scalar_direct_s8_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored8, false, 4)
#define MSL_ENTRY_matmul_scalar_made_s8_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored8, true, 1)
#define MSL_ENTRY_matmul_scalar_made_s8_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored8, true, 2)
#define MSL_ENTRY_matmul_scalar_made_s8_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, kStored8, true, 4)
#define MSL_ENTRY_matmul_scalar_direct_s8f_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, kFine8, false, 1)
#define MSL_ENTRY_matmul_scalar_direct_s8f_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, kFine8, false, 2)
#define MSL_ENTRY_matmul_scalar_direct_s8f_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, kFine8, false, 4)
#define MSL_ENTRY_matmul_scalar_made_s8f_1 MSL_KERNEL_matmul_scalar((256), bfloat, float, kFine8, true, 1)
#define MSL_ENTRY_matmul_scalar_made_s8f_2 MSL_KERNEL_matmul_scalar((256), bfloat, float, kFine8, true, 2)
#define MSL_ENTRY_matmul_scalar_made_s8f_4 MSL_KERNEL_matmul_scalar((256), bfloat, float, kFine8, true, 4)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
