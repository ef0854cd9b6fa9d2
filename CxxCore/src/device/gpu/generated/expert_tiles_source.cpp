// The text of expert_tiles.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_tiles_source() noexcept {
  return {"expert_tiles",
R"msl(#pragma METAL fp contract(off)
// expert_tiles: sorts the rows of a mixture into tiles of one expert each, for expert_matmul, expert_few and
// expert_many.
#include "args/experts.h"
#include "common.h"

constant constexpr uint kThreads = 256;
constant constexpr uint kSimdgroups = kThreads / 32;

// An invalid id counts as the last expert: nothing outside the weights is ever read.
METAL_FUNC uint expert_of(device const int* ids, constant pagoda_args::ExpertTiles& args, uint row) {
  const uint id = uint(ids[long(row / args.chosen) * args.ids_stride + row % args.chosen]);
  return min(id, args.num_experts - 1);
}

// The first tile of an expert that is preceded by `rows` rows of `experts` experts. Each of those that has rows may
// have left one partial tile.
METAL_FUNC uint first_tile(uint rows, uint experts, uint tile_rows) { return rows / tile_rows + min(rows, experts); }

// order: rows of out sorted by expert. tiles: [max_tiles, 4]: expert, index of its first row in order, number of rows
// (0 for unused tiles). Each thread scans a run of rows. Grid: [num_experts]
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_tiles(device const int* ids [[buffer(0)]],
                         device uint* order [[buffer(1)]],
                         device uint* tiles [[buffer(2)]],
                         constant pagoda_args::ExpertTiles& args [[buffer(3)]],
                         uint expert [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint lower[kSimdgroups];  // rows of experts before this one, per simdgroup
  threadgroup uint own[kSimdgroups];    // rows of this expert, per simdgroup
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
  uint first = 0;  // index of the expert's first row
  uint count = 0;
  uint next = simd_prefix_exclusive_sum(num_own);  // index of the thread's first row
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
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 3 "Shaders/expert_tiles.metal"
#include "Shaders/args/experts.h"
#include "Shaders/common.h"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kSimdgroups = kThreads / 32;


METAL_FUNC uint expert_of(MSL_DEVICE const int* ids, MSL_CONSTANT pagoda_args::ExpertTiles& args, uint row) {
  const uint id = uint(ids[long(row / args.chosen) * args.ids_stride + row % args.chosen]);
  return min(id, args.num_experts - 1);
}
# 17 "Shaders/expert_tiles.metal"
METAL_FUNC uint first_tile(uint rows, uint experts, uint tile_rows) { return rows / tile_rows + min(rows, experts); }
# 22 "Shaders/expert_tiles.metal"
MSL_KERNEL void expert_tiles(MSL_DEVICE const int* ids ,
                         MSL_DEVICE uint* order ,
                         MSL_DEVICE uint* tiles ,
                         MSL_CONSTANT pagoda_args::ExpertTiles& args ,
                         uint expert ,
                         uint tid ,
                         uint sg ,
                         uint lane ) {
  MSL_TG_VAR(1, lower, [kSimdgroups], uint)
  MSL_TG_VAR(2, own, [kSimdgroups], uint)
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

# 1 "expert_tiles.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_tiles)
extern "C" __global__ void __launch_bounds__(256) expert_tiles(const int* ids, uint* order, uint* tiles, const pagoda_args::ExpertTiles args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_tiles(ids, order, tiles, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
