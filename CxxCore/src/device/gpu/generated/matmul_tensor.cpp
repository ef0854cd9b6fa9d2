// matmul_tensor.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
#include "device/gpu/shim/software/tensor.h"
namespace metal {
namespace {
# 13 "Shaders/matmul_tensor.metal"
#include "device/gpu/generated/matmul.h"
# 17 "Shaders/matmul_tensor.metal"
template <typename T, uint BITS>

MSL_KERNEL void matmul_tensor(MSL_DEVICE const T* x ,
                          MSL_DEVICE const float* x_scales ,
                          MSL_DEVICE const uint* w ,
                          MSL_DEVICE const ushort* w_steps ,
                          MSL_DEVICE const float* w_scales ,
                          MSL_DEVICE const float* bias ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::Matmul& args ,
                          uint2 tg ,
                          uint tid ) {
  constexpr uint ROWS = 64;
  constexpr uint W_ROWS = 64;
  constexpr uint LD = kChunk / 2;
  MSL_TG_VAR(1, staged, [2*ROWS*LD], uint)
  const uint m0 = tg.x * ROWS;
  const uint stage_row = tid / 4;
  const uint stage_column = tid % 4 * 16;
  ulong x_at[2];
  ulong w_at[2];

  for (uint i = 0; i < 2; ++i) {
    x_at[i] = ulong(min(m0 + stage_row + 32 * i, args.rows - 1)) * args.padded_cols + stage_column;
    w_at[i] = ulong(weight_row(args, tg.y, stage_row + 32 * i, W_ROWS)) * args.padded_cols + stage_column;
  }


  constexpr auto descriptor =
      mpp::tensor_ops::matmul2d_descriptor(int(ROWS), int(W_ROWS), int(kChunk), false, true, false,
                                           mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
  mpp::tensor_ops::matmul2d<descriptor, execution_simdgroups<4>> multiply;
  tensor<MSL_THREADGROUP T, dextents<int, 2>, tensor_inline> x_tile((MSL_THREADGROUP T*)(staged),
                                                                dextents<int, 2>(int(kChunk), int(ROWS)));
  tensor<MSL_THREADGROUP T, dextents<int, 2>, tensor_inline> w_tile((MSL_THREADGROUP T*)(staged + ROWS * LD),
                                                                dextents<int, 2>(int(kChunk), int(W_ROWS)));
  auto total = multiply.template get_destination_cooperative_tensor<decltype(x_tile), decltype(w_tile), float>();
  for (ushort i = 0; MSL_LOOP(i < total.get_capacity()); ++i) {
    total[i] = 0.0f;
  }
  for (uint k0 = 0; MSL_LOOP(k0 < args.padded_cols); k0 += kChunk) {

    for (uint i = 0; i < 2; ++i) {
      Share<BITS> share;
      uint words[kChunkTiles];
      load_x<BITS>(x + x_at[i] + k0, words);
      store_words(words, staged + (stage_row + 32 * i) * LD + stage_column / 2);
      load_share(w, w_steps, args.scales, w_at[i], k0, share);
      share_words(share, args.scales, words);
      store_words(words, staged + (ROWS + stage_row + 32 * i) * LD + stage_column / 2);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply.run(x_tile, w_tile, total);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(staged);
  tensor<MSL_THREADGROUP float, dextents<int, 2>, tensor_inline> sums_tile(sums,
                                                                       dextents<int, 2>(int(W_ROWS), int(ROWS)));
  total.store(sums_tile);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint made = args.silu_mul != 0 ? W_ROWS / 2 : W_ROWS;
  const uint r = tid % made;
  const uint column = tg.y * made + r;
  const ColumnTerms terms = column_terms(args, w_scales, bias, column, BITS < 16);
  for (uint i = tid; MSL_LOOP(i < made * ROWS); i += 128) {
    const uint m = m0 + i / made;
    if (m < args.rows && column < args.out_cols) {
      write_out(args, terms, row_scale(x_scales, m, T(0.0f)), out, m, column, sums[i / made * W_ROWS + r],
                args.silu_mul != 0 ? sums[i / made * W_ROWS + made + r] : 0.0f);
    }
  }
}
# 1 "matmul_tensor.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(half), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tensor<half, 16>((const half*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"x_scales", 1, BindingKind::buffer, sizeof(float), false}, {"w", 2, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 3, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 4, BindingKind::buffer, sizeof(float), false}, {"bias", 5, BindingKind::buffer, sizeof(float), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::Matmul), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tensor<bfloat, 16>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tensor<bfloat, 8>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; matmul_tensor<bfloat, 4>((const bfloat*)in.buffers[0], (const float*)in.buffers[1], (const uint*)in.buffers[2], (const ushort*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::Matmul*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"matmul_tensor_f16", "matmul_tensor", msl_bindings_0, {}, 128, msl_entry_0},
  {"matmul_tensor_bf16", "matmul_tensor", msl_bindings_1, {}, 128, msl_entry_1},
  {"matmul_tensor_q8", "matmul_tensor", msl_bindings_1, {}, 128, msl_entry_2},
  {"matmul_tensor_q4", "matmul_tensor", msl_bindings_1, {}, 128, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> matmul_tensor_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
