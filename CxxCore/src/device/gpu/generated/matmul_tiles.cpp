// matmul_tiles.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/matmul_tiles.metal"
#include "device/gpu/generated/matmul_tile.h"
# 8 "Shaders/matmul_tiles.metal"
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
  constexpr uint TERMS = BITS > 200 ? 8 : BITS > 100 ? 4 : 0;
  constexpr uint STAGE = (W_ROWS + ROWS) * kStagedWords + (TERMS > 0 ? kFactorWords : 0) + W_ROWS * TERMS;
  constexpr uint PASS = ROWS / 2;
  constexpr uint SUMS = PASS * W_ROWS;
  MSL_TG_VAR(1, shared_words, [STAGE> SUMS?STAGE:SUMS], uint)

  const uint m0 = tg.x * ROWS;
  constexpr uint W_SHARES = WT / 2;
  ulong w_at[W_SHARES];
  ulong x_at[2];

  for (uint i = 0; i < W_SHARES; ++i) {
    w_at[i] = ulong(weight_row(args, tg.y, staged_row(tid, i), W_ROWS)) * args.padded_cols + tid % 4 * 16;
  }

  for (uint i = 0; i < 2; ++i) {
    x_at[i] = ulong(min(m0 + tid / 4 + 32 * i, args.rows - 1)) * args.padded_cols + x_column<BITS>(tid);
  }
  SumTile total[WT][4];
  Share<BITS> w_next[W_SHARES];

  for (uint i = 0; i < W_SHARES; ++i) {
    load_share(w, w_steps, args.scales, w_at[i], 0, w_next[i]);
  }
  wait_for_inputs();
  multiply_tile<T, BITS, WT, 4>(total, x, w, w_steps, x_at, w_at, w_next, args.scales, args.padded_cols, args.run,
                                shared_words, tid, sg, lane);

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(shared_words);
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
  const uint r = tid % made;
  const uint column = tg.y * made + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);

  for (uint first = 0; first < ROWS; first += PASS) {
    store_half<WT, 4>(total, sums, first, sg);
    for (uint i = tid; MSL_LOOP(i < made * PASS); i += 128) {
      const uint m = m0 + first + i / made;
      if (m < args.rows && column < args.out_cols) {
        write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sums[i / made * W_ROWS + r],
                  args.silu_mul != 0 ? sums[i / made * W_ROWS + made + r] : 0.0f);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
# 1 "matmul_tiles.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<half, 16, 4>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<half, 16, 8>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, 16, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, 16, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, 8, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, 8, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, 4, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, 4, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_8(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, kStored4, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_9(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, kStored8, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_10(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tiles<bfloat, kFine8, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_tiles_f16_4", "matmul_tiles", msl_bindings_0, {}, 128, msl_entry_0},
  {"matmul_tiles_f16_8", "matmul_tiles", msl_bindings_0, {}, 128, msl_entry_1},
  {"matmul_tiles_bf16_4", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_2},
  {"matmul_tiles_bf16_8", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_3},
  {"matmul_tiles_q8_4", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_4},
  {"matmul_tiles_q8_8", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_5},
  {"matmul_tiles_q4_4", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_6},
  {"matmul_tiles_q4_8", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_7},
  {"matmul_tiles_s4_4", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_8},
  {"matmul_tiles_s8_4", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_9},
  {"matmul_tiles_s8f_4", "matmul_tiles", msl_bindings_1, {}, 128, msl_entry_10},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_tiles_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
