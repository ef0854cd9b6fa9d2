// expert_tiles.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/expert_tiles.metal"
#include "device/gpu/generated/args_experts.h"
#include "device/gpu/generated/common.h"

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
  for (uint row = begin; MSL_LOOP(row < end); ++row) {
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
  for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
    first += lower[i];
    count += own[i];
    next += i < sg ? own[i] : 0;
  }
  next += first;
  for (uint row = begin; MSL_LOOP(row < end); ++row) {
    if (expert_of(ids, args, row) == expert) {
      order[next] = row;
      ++next;
    }
  }
  const uint begin_tile = first_tile(first, expert, args.tile_rows);
  const uint end_tile = first_tile(first + count, expert + 1, args.tile_rows);
  for (uint tile = begin_tile + tid; MSL_LOOP(tile < end_tile); tile += kThreads) {
    const uint done = min((tile - begin_tile) * args.tile_rows, count);
    tiles[tile * 4] = expert;
    tiles[tile * 4 + 1] = first + done;
    tiles[tile * 4 + 2] = min(args.tile_rows, count - done);
  }
}
# 1 "expert_tiles.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"order", 1, BindingKind::buffer, sizeof(uint), true}, {"tiles", 2, BindingKind::buffer, sizeof(uint), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::ExpertTiles), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_tiles((const int*)in.buffers[0], (uint*)in.buffers[1], (uint*)in.buffers[2], *(const pagoda_args::ExpertTiles*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"expert_tiles", "expert_tiles", msl_bindings_0, {}, 256, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_tiles_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
