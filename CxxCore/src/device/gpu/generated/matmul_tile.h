// matmul_tile.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 7 "Shaders/matmul_tile.h"
#include "device/gpu/generated/chunk_tile.h"
#include "device/gpu/generated/half_tile.h"


template <uint WT, uint MT>
METAL_FUNC void store_half(MSL_THREAD SumTile (&total)[WT][MT], MSL_THREADGROUP float* sums, uint first, uint sg) {
  if ((sg % 2) * (8 * MT) == first) {

    for (uint i = 0; i < WT; ++i) {

      for (uint t = 0; t < MT; ++t) {
        simdgroup_store(total[i][t], sums + 8 * t * 16 * WT + (sg / 2) * (8 * WT) + 8 * i, 16 * WT, ulong2(0, 0), true);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
