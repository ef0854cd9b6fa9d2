// The text of expert_few.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_few_source() noexcept {
  return {"expert_few",
R"msl(#include "expert_rows.h"
constant constexpr uint kTiles = 2;
constant constexpr uint kRows = 8 * kTiles;
constant constexpr uint kWidth = 8;
constant constexpr uint kAhead = 2;
template <typename T, typename X, uint BITS>
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_few(device const X* x [[buffer(0)]],
                       device const uint* w [[buffer(1)]],
                       device const ushort* w_steps [[buffer(2)]],
                       device const float* w_scales [[buffer(3)]],
                       device const uint* order [[buffer(4)]],
                       device const uint* tiles [[buffer(5)]],
                       device float* out [[buffer(6)]],
                       constant pagoda_args::ExpertProducts& args [[buffer(7)]],
                       uint2 tg [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED float shared_words[kRuns * kTileScratch];
  threadgroup uint* scratch = (threadgroup uint*)(shared_words) + sg * kTileScratch;
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  ulong w_at[kTiles];
  SumTile acc[kTiles][1];
  #pragma unroll
  for (uint i = 0; i < kTiles; ++i) {
    w_at[i] = expert_weight_at(args, tile, tg.x, 8 * i + lane / 4, kRows, lane);
    acc[i][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  const ulong x_at = expert_x_at<BITS>(args, order, tile, lane / 4, lane);
  const uint begin = sg * args.matmul.run;
  const uint end = min(begin + args.matmul.run, args.matmul.padded_cols);
  for (uint k0 = begin; k0 < end; k0 += kAhead * kChunk) {
    Share<BITS> share[kAhead][kTiles];
    uint x_words[kAhead][1][kChunkTiles];
    load_shares<BITS, kAhead, kTiles>(w, w_steps, args.matmul.scales, w_at, k0, end, share);
    #pragma unroll
    for (uint u = 0; u < kAhead; ++u) {
      const uint k = k0 + u * kChunk;
      load_x<BITS>(x + x_at + (k < end ? k : k0), x_words[u][0]);
    }
    #pragma unroll
    for (uint u = 0; u < kAhead; ++u) {
      if (k0 + u * kChunk < end) {
        multiply_shares<T, BITS, kTiles, 1>(Stored<(BITS > 100)>(), acc, share[u], x_words[u], args.matmul.scales,
                                            scratch, lane);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  #pragma unroll
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
    #pragma unroll
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
MSL_INSTANCE(expert_few_direct_bf16, expert_few, bfloat, float, 16)
MSL_INSTANCE(expert_few_direct_q8, expert_few, bfloat, float, 8)
MSL_INSTANCE(expert_few_direct_q4, expert_few, bfloat, float, 4)
MSL_INSTANCE(expert_few_bf16, expert_few, bfloat, bfloat, 16)
MSL_INSTANCE(expert_few_q8, expert_few, bfloat, bfloat, 8)
MSL_INSTANCE(expert_few_q4, expert_few, bfloat, bfloat, 4)
MSL_INSTANCE(expert_few_direct_s4, expert_few, bfloat, float, kStored4)
MSL_INSTANCE(expert_few_s4, expert_few, bfloat, bfloat, kStored4)
MSL_INSTANCE(expert_few_direct_s8, expert_few, bfloat, float, kStored8)
MSL_INSTANCE(expert_few_s8, expert_few, bfloat, bfloat, kStored8)
MSL_INSTANCE(expert_few_direct_s8f, expert_few, bfloat, float, kFine8)
MSL_INSTANCE(expert_few_s8f, expert_few, bfloat, bfloat, kFine8)
)msl",
R"msl(#define MSL_KERNEL_expert_few(BOUNDS, T, X, BITS) MSL_GLOBAL(BOUNDS)(const X* x, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertProducts args) { msl_let_dependents_begin(); msl_wait_for_inputs(); expert_few<T, X, BITS>(x, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_expert_few_direct_bf16 MSL_KERNEL_expert_few((256), bfloat, float, 16)
#define MSL_ENTRY_expert_few_direct_q8 MSL_KERNEL_expert_few((256), bfloat, float, 8)
#define MSL_ENTRY_expert_few_direct_q4 MSL_KERNEL_expert_few((256), bfloat, float, 4)
#define MSL_ENTRY_expert_few_bf16 MSL_KERNEL_expert_few((256), bfloat, bfloat, 16)
#define MSL_ENTRY_expert_few_q8 MSL_KERNEL_expert_few((256), bfloat, bfloat, 8)
#define MSL_ENTRY_expert_few_q4 MSL_KERNEL_expert_few((256), bfloat, bfloat, 4)
#define MSL_ENTRY_expert_few_direct_s4 MSL_KERNEL_expert_few((256), bfloat, float, kStored4)
#define MSL_ENTRY_expert_few_s4 MSL_KERNEL_expert_few((256), bfloat, bfloat, kStored4)
#define MSL_ENTRY_expert_few_direct_s8 MSL_KERNEL_expert_few((256), bfloat, float, kStored8)
#define MSL_ENTRY_expert_few_s8 MSL_KERNEL_expert_few((256), bfloat, bfloat, kStored8)
#define MSL_ENTRY_expert_few_direct_s8f MSL_KERNEL_expert_few((256), bfloat, float, kFine8)
#define MSL_ENTRY_expert_few_s8f MSL_KERNEL_expert_few((256), bfloat, bfloat, kFine8)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
