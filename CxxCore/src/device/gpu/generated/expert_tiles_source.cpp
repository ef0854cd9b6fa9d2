// The text of expert_tiles.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_tiles_source() noexcept {
  return {"expert_tiles",
R"msl(#include "args/experts.h"
#include "common.h"
constant constexpr uint kThreads = 256;
constant constexpr uint kSimdgroups = kThreads / 32;
METAL_FUNC uint expert_of(device const int* ids, constant pagoda_args::ExpertTiles& args, uint row) {
  const uint id = uint(ids[long(row / args.chosen) * args.ids_stride + row % args.chosen]);
  return min(id, args.num_experts - 1);
}
METAL_FUNC uint first_tile(uint rows, uint experts, uint tile_rows) { return rows / tile_rows + min(rows, experts); }
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_tiles(device const int* ids [[buffer(0)]],
                         device uint* order [[buffer(1)]],
                         device uint* tiles [[buffer(2)]],
                         constant pagoda_args::ExpertTiles& args [[buffer(3)]],
                         uint expert [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED uint lower[kSimdgroups];
  MSL_SHARED uint own[kSimdgroups];
  const uint rows = args.tokens * args.chosen;
  const uint each = (rows + kThreads - 1) / kThreads;
  const uint begin = tid * each;
  const uint end = min(begin + each, rows);
  uint num_lower = 0;
  uint num_own = 0;
  for (uint row = begin; row < end; ++row) {
    const uint e = expert_of(ids, args, row);
    num_lower += e < expert ? 1 : 0;
    num_own += e == expert ? 1 : 0;
  }
  const uint all_lower = simd_sum(num_lower);
  const uint all_own = simd_sum(num_own);
  if (lane == 0) {
    lower[sg] = all_lower;
    own[sg] = all_own;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint first = 0;
  uint count = 0;
  uint next = simd_prefix_exclusive_sum(num_own);
  for (uint i = 0; i < kSimdgroups; ++i) {
    first += lower[i];
    count += own[i];
    next += i < sg ? own[i] : 0;
  }
  next += first;
  for (uint row = begin; row < end; ++row) {
    if (expert_of(ids, args, row) == expert) {
      order[next] = row;
      ++next;
    }
  }
  const uint begin_tile = first_tile(first, expert, args.tile_rows);
  const uint end_tile = first_tile(first + count, expert + 1, args.tile_rows);
  for (uint tile = begin_tile + tid; tile < end_tile; tile += kThreads) {
    const uint done = min((tile - begin_tile) * args.tile_rows, count);
    tiles[tile * 4] = expert;
    tiles[tile * 4 + 1] = first + done;
    tiles[tile * 4 + 2] = min(args.tile_rows, count - done);
  }
}
)msl",
R"msl(#define MSL_KERNEL_expert_tiles(BOUNDS) MSL_GLOBAL(BOUNDS)(const int* ids, uint* order, uint* tiles, const pagoda_args::ExpertTiles args) { msl_let_dependents_begin(); msl_wait_for_inputs(); expert_tiles(ids, order, tiles, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_expert_tiles MSL_KERNEL_expert_tiles((256))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
