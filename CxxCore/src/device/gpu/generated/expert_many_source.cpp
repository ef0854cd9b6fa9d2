// The text of expert_many.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_many_source() noexcept {
  return {"expert_many",
R"msl(#include "expert_rows.h"
#include "matmul_tile.h"
constant constexpr uint kRows = 32;
constant constexpr uint kWeightRows = 128;
constant constexpr uint kShares = kWeightRows / 32;
constant constexpr uint kPass = kRows / 2;
template <typename T, uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void expert_many(device const T* x [[buffer(0)]],
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
  constexpr uint TERMS = BITS > 200 ? 8 : BITS > 100 ? 4 : 0;
  constexpr uint STAGE = (kWeightRows + kRows) * kStagedWords + (TERMS > 0 ? kFactorWords : 0) + kWeightRows * TERMS;
  MSL_SHARED uint shared_words[STAGE];
  const ExpertTile tile = expert_tile(tiles, tg.y, args.expert_rows);
  if (tile.count == 0) {
    return;
  }
  ulong w_at[kShares];
  Share<BITS> w_next[kShares];
  #pragma unroll
  for (uint i = 0; i < kShares; ++i) {
    w_at[i] = expert_weight_at(args, tile, tg.x, staged_row(tid, i), kWeightRows, tid);
    load_share(w, w_steps, args.matmul.scales, w_at[i], 0, w_next[i]);
  }
  ulong x_at[1];
  x_at[0] = expert_x_at<BITS>(args, order, tile, tid / 4, tid);
  SumTile total[8][2];
  multiply_tile<T, BITS, 8, 2>(total, x, w, w_steps, x_at, w_at, w_next, args.matmul.scales,
                               args.matmul.padded_cols, args.matmul.run, shared_words, tid, sg, lane);
  threadgroup float* sums = (threadgroup float*)(shared_words);
  const uint made = args.matmul.silu_mul != 0 ? kWeightRows / 2 : kWeightRows;
  #pragma unroll
  for (uint first = 0; first < kRows; first += kPass) {
    store_half<8, 2>(total, sums, first, sg);
    for (uint i = tid; i < made * kPass; i += 128) {
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
MSL_INSTANCE(expert_many_bf16, expert_many, bfloat, 16)
MSL_INSTANCE(expert_many_q8, expert_many, bfloat, 8)
MSL_INSTANCE(expert_many_q4, expert_many, bfloat, 4)
MSL_INSTANCE(expert_many_s4, expert_many, bfloat, kStored4)
MSL_INSTANCE(expert_many_s8, expert_many, bfloat, kStored8)
MSL_INSTANCE(expert_many_s8f, expert_many, bfloat, kFine8)
)msl",
R"msl(#define MSL_KERNEL_expert_many(BOUNDS, T, BITS) MSL_GLOBAL(BOUNDS)(const T* x, const uint* w, const ushort* w_steps, const float* w_scales, const uint* order, const uint* tiles, float* out, const pagoda_args::ExpertProducts args) { msl_let_dependents_begin(); msl_wait_for_inputs(); expert_many<T, BITS>(x, w, w_steps, w_scales, order, tiles, out, args, msl_builtin<uint2>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_expert_many_bf16 MSL_KERNEL_expert_many((128), bfloat, 16)
#define MSL_ENTRY_expert_many_q8 MSL_KERNEL_expert_many((128), bfloat, 8)
#define MSL_ENTRY_expert_many_q4 MSL_KERNEL_expert_many((128), bfloat, 4)
#define MSL_ENTRY_expert_many_s4 MSL_KERNEL_expert_many((128), bfloat, kStored4)
#define MSL_ENTRY_expert_many_s8 MSL_KERNEL_expert_many((128), bfloat, kStored8)
#define MSL_ENTRY_expert_many_s8f MSL_KERNEL_expert_many((128), bfloat, kFine8)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
