// expert_tiles.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/expert_tiles.metal"
#include "device/gpu/generated/args_experts.h"
#include "device/gpu/generated/common.h"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kMaxExperts = 4096;
MSL_CONSTANT constexpr uint kRows = 8;


METAL_FUNC uint expert_of(MSL_DEVICE const int* ids, MSL_CONSTANT pagoda_args::ExpertTiles& args, uint token, uint j) {
  return min(uint(ids[long(token) * args.ids_stride + j]), args.num_experts - 1);
}
# 17 "Shaders/expert_tiles.metal"
MSL_KERNEL void expert_tiles(MSL_DEVICE const int* ids ,
                         MSL_DEVICE uint* order ,
                         MSL_DEVICE uint* tiles ,
                         MSL_CONSTANT pagoda_args::ExpertTiles& args ,
                         uint tid ) {
  MSL_TG_VAR(1, counts, [kMaxExperts], uint)
  MSL_TG_VAR(2, thread_rows, [kThreads], uint)
  MSL_TG_VAR(3, thread_tiles, [kThreads], uint)
  const uint each = (args.num_experts + kThreads - 1) / kThreads;
  const uint begin = tid * each;
  for (uint e = begin; MSL_LOOP(e < begin + each); ++e) {
    counts[e] = 0;
  }
  for (uint token = 0; MSL_LOOP(token < args.tokens); ++token) {
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        counts[e] += 1;
      }
    }
  }
  uint num_rows = 0;
  uint num_tiles = 0;
  for (uint e = begin; MSL_LOOP(e < begin + each); ++e) {
    num_rows += counts[e];
    num_tiles += (counts[e] + kRows - 1) / kRows;
  }
  thread_rows[tid] = num_rows;
  thread_tiles[tid] = num_tiles;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint place = 0;
  uint tile = 0;
  uint all_tiles = 0;
  for (uint i = 0; MSL_LOOP(i < kThreads); ++i) {
    place += i < tid ? thread_rows[i] : 0;
    tile += i < tid ? thread_tiles[i] : 0;
    all_tiles += thread_tiles[i];
  }
  for (uint e = begin; MSL_LOOP(e < begin + each); ++e) {
    const uint count = counts[e];
    counts[e] = place;
    for (uint i = 0; MSL_LOOP(i < count); i += kRows) {
      tiles[tile * 4] = e;
      tiles[tile * 4 + 1] = place + i;
      tiles[tile * 4 + 2] = min(kRows, count - i);
      ++tile;
    }
    place += count;
  }
  for (uint token = 0; MSL_LOOP(token < args.tokens); ++token) {
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        order[counts[e]] = token * args.chosen + j;
        counts[e] += 1;
      }
    }
  }
  for (uint i = all_tiles + tid; MSL_LOOP(i < args.max_tiles); i += kThreads) {
    tiles[i * 4 + 2] = 0;
  }
}

# 1 "expert_tiles.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  expert_tiles((const int*)in.buffers[0], (uint*)in.buffers[1], (uint*)in.buffers[2], *(const pagoda_args::ExpertTiles*)in.buffers[3], msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"order", 1, BindingKind::buffer, sizeof(uint), true}, {"tiles", 2, BindingKind::buffer, sizeof(uint), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::ExpertTiles), false}};
constexpr uint32_t msl_limit_0 = 256;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_tiles_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"expert_tiles", "expert_tiles", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
