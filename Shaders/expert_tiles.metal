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
