// expert_few.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/expert_few.metal"
#include "device/gpu/generated/expert_rows.h"

MSL_CONSTANT constexpr uint kTiles = 2;
MSL_CONSTANT constexpr uint kRows = 8 * kTiles;
MSL_CONSTANT constexpr uint kWidth = 8;
MSL_CONSTANT constexpr uint kAhead = 2;
# 11 "Shaders/expert_few.metal"
template <typename T, typename X, uint BITS>

MSL_KERNEL void expert_few(MSL_DEVICE const X* x ,
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
  MSL_TG_VAR(1, shared_words, [kRuns*kTileScratch], float)
  MSL_THREADGROUP uint* scratch = (MSL_THREADGROUP uint*)(shared_words) + sg * kTileScratch;
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  ulong w_at[kTiles];
  SumTile acc[kTiles][1];

  for (uint i = 0; i < kTiles; ++i) {
    w_at[i] = expert_weight_at(args, tile, tg.x, 8 * i + lane / 4, kRows, lane);
    acc[i][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  const ulong x_at = expert_x_at<BITS>(args, order, tile, lane / 4, lane);
  const uint begin = sg * args.matmul.run;
  const uint end = min(begin + args.matmul.run, args.matmul.padded_cols);
  for (uint k0 = begin; MSL_LOOP(k0 < end); k0 += kAhead * kChunk) {
    Share<BITS> share[kAhead][kTiles];
    uint x_words[kAhead][1][kChunkTiles];
    load_shares<BITS, kAhead, kTiles>(w, w_steps, args.matmul.scales, w_at, k0, end, share);

    for (uint u = 0; u < kAhead; ++u) {
      const uint k = k0 + u * kChunk;
      load_x<BITS>(x + x_at + (k < end ? k : k0), x_words[u][0]);
    }

    for (uint u = 0; u < kAhead; ++u) {
      if (k0 + u * kChunk < end) {
        multiply_shares<T, BITS, kTiles, 1>(Stored<(BITS > 100)>(), acc, share[u], x_words[u], args.matmul.scales,
                                            scratch, lane);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = 0; i < kTiles; ++i) {
    simdgroup_store(acc[i][0], shared_words + (sg * kRows + 8 * i) * kWidth, kWidth);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint made = args.matmul.silu_mul != 0 ? kRows / 2 : kRows;
  const uint r = tid % made;
  const uint m = tid / made;
  const uint column = tg.x * made + r;
  if (m < tile.count && column < args.matmul.out_cols) {
    float sum = 0.0f;
    float other = 0.0f;

    for (uint run = 0; run < kRuns; ++run) {
      sum += shared_words[(run * kRows + r) * kWidth + m];
      if (args.matmul.silu_mul != 0) {
        other += shared_words[(run * kRows + made + r) * kWidth + m];
      }
    }
    write_expert_out(args, w_scales, out, tile.weight_row, order[tile.first + m], column, sum, other,
                     BITS < 16);
  }
}
# 1 "expert_few.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"w", 1, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 2, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 3, BindingKind::buffer, sizeof(float), false}, {"order", 4, BindingKind::buffer, sizeof(uint), false}, {"tiles", 5, BindingKind::buffer, sizeof(uint), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::ExpertProducts), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, float, 16>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, float, 8>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, float, 4>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(bfloat), false}, {"w", 1, BindingKind::buffer, sizeof(uint), false}, {"w_steps", 2, BindingKind::buffer, sizeof(ushort), false}, {"w_scales", 3, BindingKind::buffer, sizeof(float), false}, {"order", 4, BindingKind::buffer, sizeof(uint), false}, {"tiles", 5, BindingKind::buffer, sizeof(uint), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::ExpertProducts), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, bfloat, 16>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, bfloat, 8>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, bfloat, 4>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, float, kStored4>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, bfloat, kStored4>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_8(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, float, kStored8>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_9(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, bfloat, kStored8>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_10(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, float, kFine8>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_11(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_few<bfloat, bfloat, kFine8>((const bfloat*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (const float*)in.buffers[3], (const uint*)in.buffers[4], (const uint*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::ExpertProducts*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"expert_few_direct_bf16", "expert_few", msl_bindings_0, {}, 256, msl_entry_0},
  {"expert_few_direct_q8", "expert_few", msl_bindings_0, {}, 256, msl_entry_1},
  {"expert_few_direct_q4", "expert_few", msl_bindings_0, {}, 256, msl_entry_2},
  {"expert_few_bf16", "expert_few", msl_bindings_1, {}, 256, msl_entry_3},
  {"expert_few_q8", "expert_few", msl_bindings_1, {}, 256, msl_entry_4},
  {"expert_few_q4", "expert_few", msl_bindings_1, {}, 256, msl_entry_5},
  {"expert_few_direct_s4", "expert_few", msl_bindings_0, {}, 256, msl_entry_6},
  {"expert_few_s4", "expert_few", msl_bindings_1, {}, 256, msl_entry_7},
  {"expert_few_direct_s8", "expert_few", msl_bindings_0, {}, 256, msl_entry_8},
  {"expert_few_s8", "expert_few", msl_bindings_1, {}, 256, msl_entry_9},
  {"expert_few_direct_s8f", "expert_few", msl_bindings_0, {}, 256, msl_entry_10},
  {"expert_few_s8f", "expert_few", msl_bindings_1, {}, 256, msl_entry_11},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_few_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
