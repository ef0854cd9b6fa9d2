// matmul_scalar.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/matmul_scalar.metal"
#include "device/gpu/generated/row_source.h"
#include "device/gpu/generated/stored_scalar.h"
# 9 "Shaders/matmul_scalar.metal"
template <typename T, typename X, uint BITS, bool MADE, uint M>

MSL_KERNEL void matmul_scalar(MSL_DEVICE const X* x ,
                          MSL_DEVICE const float* x_scales ,
                          MSL_DEVICE const uint* w ,
                          MSL_DEVICE const ushort* w_steps ,
                          MSL_DEVICE const float* w_scales ,
                          MSL_DEVICE const float* bias ,
                          MSL_DEVICE const float* weight ,
                          MSL_DEVICE const float* gate ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::Matmul& args ,
                          uint tg ,
                          uint tid ,
                          uint sg ,
                          uint lane ) {
  constexpr uint SHARED = kRuns * M * kStaged;
  constexpr uint MADE_WORDS = MADE ? M * (kMostHeads + kRowSimdgroups) : 0;
  MSL_TG_VAR(1, shared_words, [SHARED+MADE_WORDS], float)
  MSL_THREADGROUP float* scales = shared_words + SHARED;
  MSL_THREADGROUP float* parts = scales + M * kMostHeads;
  MSL_THREADGROUP float* staged = shared_words + sg * M * kStaged;
  const ulong w_at = ulong(weight_row(args, tg, lane, kScalarRows)) * args.padded_cols;
  const uint begin = sg * args.run;
  const uint end = min((sg + 1) * args.run, args.padded_cols);
  wait_for_inputs();

  if (MADE) {
    row_scales((MSL_DEVICE const float*)(x), args.x_stride, args.source, args.rows, scales, parts, tid, sg, lane);
  }
  float sums[M];

  for (uint m = 0; m < M; ++m) {
    sums[m] = 0.0f;
  }
  for (uint k0 = begin; MSL_LOOP(k0 < end); k0 += kStaged) {
    Line<BITS> first;
    Line<BITS> second;
    load_line(w, w_steps, args.scales, w_at + k0, first);
    load_line(w, w_steps, args.scales, w_at + min(k0 + kChunk, end - kChunk), second);
    const uint column = staged_column(k0, end, lane);

    for (uint m = 0; m < M; ++m) {
      const uint row = min(m, args.rows - 1);
      MSL_DEVICE const X* from = x + long(row) * args.x_stride;
      if (MADE) {
        const uint head = column / args.source.dim;
        const uint d = column % args.source.dim;
        const float scale = args.source.kind == kSigmoidGate ? 1.0f : scales[row * args.source.heads + head];
        stage_quad<BITS>(rounded(row_elements((MSL_DEVICE const float*)(from) + long(head) * args.source.x_head_stride + d,
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
    MSL_THREADGROUP const float* columns = staged;
    const float x_sums = staged_sums<BITS, M>(Stored<(BITS > 100)>(), args.scales, columns, lane);
    multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), first, args.scales, columns, x_sums, 0, sums);
    if (k0 + kChunk < end) {
      multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), second, args.scales, columns, x_sums, 1, sums);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

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

    for (uint run = 0; run < kRuns; ++run) {
      sum += shared_words[(run * M + m) * kScalarRows + r];

      if (args.silu_mul != 0) {
        other += shared_words[(run * M + m) * kScalarRows + made + r];
      }
    }
    write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sum, other);
  }
}
# 1 "matmul_scalar.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<half, half, 16, false, 1>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<half, half, 16, false, 2>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<half, half, 16, false, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"weight", 6, BindingKind::buffer, sizeof(float), false}, {"gate", 7, BindingKind::buffer, sizeof(float), false}, {"out", 8, BindingKind::buffer, sizeof(float), true}, {"args", 9, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 16, false, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 16, false, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 16, false, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 16, true, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 16, true, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_8(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 16, true, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_9(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 8, false, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_10(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 8, false, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_11(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 8, false, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_12(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 8, true, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_13(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 8, true, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_14(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 8, true, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_15(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 4, false, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_16(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 4, false, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_17(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 4, false, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_18(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 4, true, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_19(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 4, true, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_20(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, 4, true, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_21(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored4, false, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_22(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored4, false, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_23(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored4, false, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_24(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored4, true, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_25(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored4, true, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_26(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored4, true, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_27(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored8, false, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_28(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored8, false, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_29(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored8, false, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_30(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored8, true, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_31(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored8, true, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_32(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kStored8, true, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_33(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kFine8, false, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_34(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kFine8, false, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_35(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kFine8, false, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_36(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kFine8, true, 1>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_37(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kFine8, true, 2>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_38(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_scalar<bfloat, float, kFine8, true, 4>((const float*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const float*)in.buffers[7], (float*)in.buffers[8], *(const pagoda_args::Matmul*)in.buffers[9], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_scalar_f16_1", "matmul_scalar", msl_bindings_0, {}, 256, msl_entry_0},
  {"matmul_scalar_f16_2", "matmul_scalar", msl_bindings_0, {}, 256, msl_entry_1},
  {"matmul_scalar_f16_4", "matmul_scalar", msl_bindings_0, {}, 256, msl_entry_2},
  {"matmul_scalar_direct_bf16_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_3},
  {"matmul_scalar_direct_bf16_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_4},
  {"matmul_scalar_direct_bf16_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_5},
  {"matmul_scalar_made_bf16_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_6},
  {"matmul_scalar_made_bf16_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_7},
  {"matmul_scalar_made_bf16_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_8},
  {"matmul_scalar_direct_q8_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_9},
  {"matmul_scalar_direct_q8_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_10},
  {"matmul_scalar_direct_q8_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_11},
  {"matmul_scalar_made_q8_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_12},
  {"matmul_scalar_made_q8_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_13},
  {"matmul_scalar_made_q8_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_14},
  {"matmul_scalar_direct_q4_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_15},
  {"matmul_scalar_direct_q4_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_16},
  {"matmul_scalar_direct_q4_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_17},
  {"matmul_scalar_made_q4_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_18},
  {"matmul_scalar_made_q4_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_19},
  {"matmul_scalar_made_q4_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_20},
  {"matmul_scalar_direct_s4_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_21},
  {"matmul_scalar_direct_s4_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_22},
  {"matmul_scalar_direct_s4_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_23},
  {"matmul_scalar_made_s4_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_24},
  {"matmul_scalar_made_s4_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_25},
  {"matmul_scalar_made_s4_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_26},
  {"matmul_scalar_direct_s8_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_27},
  {"matmul_scalar_direct_s8_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_28},
  {"matmul_scalar_direct_s8_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_29},
  {"matmul_scalar_made_s8_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_30},
  {"matmul_scalar_made_s8_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_31},
  {"matmul_scalar_made_s8_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_32},
  {"matmul_scalar_direct_s8f_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_33},
  {"matmul_scalar_direct_s8f_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_34},
  {"matmul_scalar_direct_s8f_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_35},
  {"matmul_scalar_made_s8f_1", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_36},
  {"matmul_scalar_made_s8f_2", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_37},
  {"matmul_scalar_made_s8f_4", "matmul_scalar", msl_bindings_1, {}, 256, msl_entry_38},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_scalar_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
