// expert_many.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/expert_many.metal"
#include "device/gpu/generated/expert_rows.h"
#include "device/gpu/generated/matmul_tile.h"

MSL_CONSTANT constexpr uint kRows = 32;
MSL_CONSTANT constexpr uint kWeightRows = 128;
MSL_CONSTANT constexpr uint kShares = kWeightRows / 32;
MSL_CONSTANT constexpr uint kPass = kRows / 2;
# 12 "Shaders/expert_many.metal"
template <typename T, uint BITS>

MSL_KERNEL void expert_many(MSL_DEVICE const T* x ,
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
  constexpr uint TERMS = BITS > 200 ? 8 : BITS > 100 ? 4 : 0;
  constexpr uint STAGE = (kWeightRows + kRows) * kStagedWords + (TERMS > 0 ? kFactorWords : 0) + kWeightRows * TERMS;
  MSL_TG_VAR(1, shared_words, [STAGE], uint)
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  ulong w_at[kShares];
  Share<BITS> w_next[kShares];

  for (uint i = 0; i < kShares; ++i) {
    w_at[i] = expert_weight_at(args, tile, tg.x, staged_row(tid, i), kWeightRows, tid);
    load_share(w, w_steps, args.matmul.scales, w_at[i], 0, w_next[i]);
  }
  ulong x_at[1];
  x_at[0] = expert_x_at<BITS>(args, order, tile, tid / 4, tid);
  SumTile total[8][2];
  multiply_tile<T, BITS, 8, 2>(total, x, w, w_steps, x_at, w_at, w_next, args.matmul.scales,
                               args.matmul.padded_cols, args.matmul.run, shared_words, tid, sg, lane);

  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(shared_words);
  const uint made = args.matmul.silu_mul != 0 ? kWeightRows / 2 : kWeightRows;

  for (uint first = 0; first < kRows; first += kPass) {
    store_half<8, 2>(total, sums, first, sg);
    for (uint i = tid; MSL_LOOP(i < made * kPass); i += 128) {
      const uint r = i % made;
      const uint m = first + i / made;
      const uint column = tg.x * made + r;
      if (m < tile.count && column < args.matmul.out_cols) {
        write_expert_out(args, w_scales, out, tile.weight_row, order[tile.first + m], column,
                         sums[i / made * kWeightRows + r],
                         args.matmul.silu_mul != 0 ? sums[i / made * kWeightRows + made + r] : 0.0f, BITS < 16);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
# 1 "expert_many.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"w", 1, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 2, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 3, BindingKind::buffer, sizeof(float), false}, {"order", 4, BindingKind::buffer, sizeof(uint), false}, {"tiles", 5, BindingKind::buffer, sizeof(uint), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::ExpertProducts), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_many<bfloat, 16>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_many<bfloat, 8>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_many<bfloat, 4>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_many<bfloat, kStored4>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_many<bfloat, kStored8>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_many<bfloat, kFine8>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"expert_many_bf16", "expert_many", msl_bindings_0, {}, 128, msl_entry_0},
  {"expert_many_q8", "expert_many", msl_bindings_0, {}, 128, msl_entry_1},
  {"expert_many_q4", "expert_many", msl_bindings_0, {}, 128, msl_entry_2},
  {"expert_many_s4", "expert_many", msl_bindings_0, {}, 128, msl_entry_3},
  {"expert_many_s8", "expert_many", msl_bindings_0, {}, 128, msl_entry_4},
  {"expert_many_s8f", "expert_many", msl_bindings_0, {}, 128, msl_entry_5},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_many_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
