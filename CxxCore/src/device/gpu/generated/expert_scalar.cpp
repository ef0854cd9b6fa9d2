// expert_scalar.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/expert_scalar.metal"
#include "device/gpu/generated/expert_rows.h"
#include "device/gpu/generated/stored_scalar.h"


template <typename T, uint BITS, uint M>

MSL_KERNEL void expert_scalar(MSL_DEVICE const float* x ,
                          MSL_DEVICE const uint* w ,
                          MSL_DEVICE const ushort* w_steps ,
                          MSL_DEVICE const float* w_scales ,
                          MSL_DEVICE const uint* order ,
                          MSL_DEVICE const uint* tiles ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::ExpertProducts& args ,
                          uint2 tg ,
                          uint tid ,
                          uint sg ,
                          uint lane ) {
  MSL_TG_VAR(1, shared_words, [kRuns*M*kStaged], float)
  MSL_THREADGROUP float* staged = shared_words + sg * M * kStaged;
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  const ulong w_at =
      ulong(tile.weight_row + weight_row(args.matmul, tg.x, lane, kScalarRows)) * args.matmul.padded_cols;
  const uint begin = sg * args.matmul.run;
  const uint end = min(begin + args.matmul.run, args.matmul.padded_cols);

  for (uint first_row = 0; MSL_LOOP(first_row < tile.count); first_row += M) {
    float sums[M];

    for (uint m = 0; m < M; ++m) {
      sums[m] = 0.0f;
    }
    for (uint k0 = begin; MSL_LOOP(k0 < end); k0 += kStaged) {
      Line<BITS> first;
      Line<BITS> second;
      load_line(w, w_steps, args.matmul.scales, w_at + k0, first);
      load_line(w, w_steps, args.matmul.scales, w_at + min(k0 + kChunk, end - kChunk), second);
      const uint column = staged_column(k0, end, lane);

      for (uint m = 0; m < M; ++m) {
        const uint row = first_row + m;
        const uint slot = order[tile.first + (row < tile.count ? row : 0)];
        stage_quad<BITS>(load_quad(x + ulong(slot / args.x_share) * ulong(args.matmul.x_stride) + column),
                   staged + m * kStaged, lane);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
      MSL_THREADGROUP const float* columns = staged;
      const float x_sums = staged_sums<BITS, M>(Stored<(BITS > 100)>(), args.matmul.scales, columns, lane);
      multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), first, args.matmul.scales, columns, x_sums, 0, sums);
      if (k0 + kChunk < end) {
        multiply_line<T, BITS, M>(Stored<(BITS > 100)>(), second, args.matmul.scales, columns, x_sums, 1, sums);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint m = 0; m < M; ++m) {
      shared_words[(sg * M + m) * kScalarRows + lane] = sums[m];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const uint made = args.matmul.silu_mul != 0 ? kScalarRows / 2 : kScalarRows;
    const uint r = tid % made;
    const uint m = tid / made;
    const uint column = tg.x * made + r;
    if (m < M && first_row + m < tile.count && column < args.matmul.out_cols) {
      float sum = 0.0f;
      float other = 0.0f;

      for (uint run = 0; run < kRuns; ++run) {
        sum += shared_words[(run * M + m) * kScalarRows + r];

        if (args.matmul.silu_mul != 0) {
          other += shared_words[(run * M + m) * kScalarRows + made + r];
        }
      }
      write_expert_out(args, w_scales, out, tile.weight_row, order[tile.first + first_row + m], column, sum, other,
                       BITS < 16);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
# 1 "expert_scalar.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"w", 1, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 2, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 3, BindingKind::buffer, sizeof(float), false}, {"order", 4, BindingKind::buffer, sizeof(uint), false}, {"tiles", 5, BindingKind::buffer, sizeof(uint), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::ExpertProducts), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, 16, 1>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, 16, 2>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, 8, 1>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, 8, 2>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, 4, 1>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, 4, 2>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, kStored4, 1>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, kStored4, 2>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_8(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, kStored8, 1>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_9(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, kStored8, 2>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_10(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, kFine8, 1>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_11(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_scalar<bfloat, kFine8, 2>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"expert_scalar_bf16_1", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_0},
  {"expert_scalar_bf16_2", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_1},
  {"expert_scalar_q8_1", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_2},
  {"expert_scalar_q8_2", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_3},
  {"expert_scalar_q4_1", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_4},
  {"expert_scalar_q4_2", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_5},
  {"expert_scalar_s4_1", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_6},
  {"expert_scalar_s4_2", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_7},
  {"expert_scalar_s8_1", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_8},
  {"expert_scalar_s8_2", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_9},
  {"expert_scalar_s8f_1", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_10},
  {"expert_scalar_s8f_2", "expert_scalar", msl_bindings_0, {}, 256, msl_entry_11},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_scalar_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
