// The text of expert_tiles.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource expert_tiles_source() noexcept {
  return {"expert_tiles",
R"msl(#pragma METAL fp contract(off)
// expert_tiles: the rows of a mixture's experts in tiles of up to eight of one expert, which expert_matmul takes.
#include "args/experts.h"
#include "common.h"

constant constexpr uint kThreads = 256;
constant constexpr uint kMaxExperts = 4096;
constant constexpr uint kRows = 8;  // of a tile, here and in expert_matmul

// An id that is no expert counts as the last: nothing outside of the weights is ever read.
METAL_FUNC uint expert_of(device const int* ids, constant pagoda_args::ExpertTiles& args, uint token, uint j) {
  return min(uint(ids[long(token) * args.ids_stride + j]), args.num_experts - 1);
}

// order: rows of out by expert. tiles: [max_tiles, 4], an expert, the place of its first row in order, how many (0 from
// the last tile on). A thread has a run of experts to itself. Grid: [1]
[[max_total_threads_per_threadgroup(256)]]
kernel void expert_tiles(device const int* ids [[buffer(0)]],
                         device uint* order [[buffer(1)]],
                         device uint* tiles [[buffer(2)]],
                         constant pagoda_args::ExpertTiles& args [[buffer(3)]],
                         uint tid [[thread_index_in_threadgroup]]) {
  threadgroup uint counts[kMaxExperts];  // rows of an expert, then the place of its next one
  threadgroup uint thread_rows[kThreads];
  threadgroup uint thread_tiles[kThreads];
  const uint each = (args.num_experts + kThreads - 1) / kThreads;
  const uint begin = tid * each;
  for (uint e = begin; e < begin + each; ++e) {
    counts[e] = 0;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        counts[e] += 1;
      }
    }
  }
  uint num_rows = 0;
  uint num_tiles = 0;
  for (uint e = begin; e < begin + each; ++e) {
    num_rows += counts[e];
    num_tiles += (counts[e] + kRows - 1) / kRows;
  }
  thread_rows[tid] = num_rows;
  thread_tiles[tid] = num_tiles;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint place = 0;
  uint tile = 0;
  uint all_tiles = 0;
  for (uint i = 0; i < kThreads; ++i) {
    place += i < tid ? thread_rows[i] : 0;
    tile += i < tid ? thread_tiles[i] : 0;
    all_tiles += thread_tiles[i];
  }
  for (uint e = begin; e < begin + each; ++e) {
    const uint count = counts[e];
    counts[e] = place;
    for (uint i = 0; i < count; i += kRows) {
      tiles[tile * 4] = e;
      tiles[tile * 4 + 1] = place + i;
      tiles[tile * 4 + 2] = min(kRows, count - i);
      ++tile;
    }
    place += count;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        order[counts[e]] = token * args.chosen + j;
        counts[e] += 1;
      }
    }
  }
  for (uint i = all_tiles + tid; i < args.max_tiles; i += kThreads) {
    tiles[i * 4 + 2] = 0;
  }
}
)msl",
R"msl(#include "device/gpu/shim/cuda/msl.h"
namespace metal {
# 2 "Shaders/expert_tiles.metal"
#include "Shaders/args/experts.h"
#include "Shaders/common.h"

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
  for (uint e = begin; e < begin + each; ++e) {
    counts[e] = 0;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        counts[e] += 1;
      }
    }
  }
  uint num_rows = 0;
  uint num_tiles = 0;
  for (uint e = begin; e < begin + each; ++e) {
    num_rows += counts[e];
    num_tiles += (counts[e] + kRows - 1) / kRows;
  }
  thread_rows[tid] = num_rows;
  thread_tiles[tid] = num_tiles;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint place = 0;
  uint tile = 0;
  uint all_tiles = 0;
  for (uint i = 0; i < kThreads; ++i) {
    place += i < tid ? thread_rows[i] : 0;
    tile += i < tid ? thread_tiles[i] : 0;
    all_tiles += thread_tiles[i];
  }
  for (uint e = begin; e < begin + each; ++e) {
    const uint count = counts[e];
    counts[e] = place;
    for (uint i = 0; i < count; i += kRows) {
      tiles[tile * 4] = e;
      tiles[tile * 4 + 1] = place + i;
      tiles[tile * 4 + 2] = min(kRows, count - i);
      ++tile;
    }
    place += count;
  }
  for (uint token = 0; token < args.tokens; ++token) {
    for (uint j = 0; j < args.chosen; ++j) {
      const uint e = expert_of(ids, args, token, j);
      if (e - begin < each) {
        order[counts[e]] = token * args.chosen + j;
        counts[e] += 1;
      }
    }
  }
  for (uint i = all_tiles + tid; i < args.max_tiles; i += kThreads) {
    tiles[i * 4 + 2] = 0;
  }
}

# 1 "expert_tiles.entries"
#if !defined(MSL_ONLY) || defined(MSL_ONLY_expert_tiles)
extern "C" __global__ void __launch_bounds__(256) expert_tiles(const int* ids, uint* order, uint* tiles, const pagoda_args::ExpertTiles args) {
  msl_let_dependents_begin();
  msl_wait_for_inputs();
  expert_tiles(ids, order, tiles, args, msl_builtin<uint>(msl_thread_index_in_threadgroup()));
}
#endif
}  // namespace metal
)msl"};
}
}  // namespace pagoda::device::gpu::generated
