// The tile of matmul_tiles and expert_many: 16 MT rows of x times 16 WT rows of weights.
//
// 128 threads in four simdgroups, each with half of the rows of both operands, of which they stage a part at a time in
// threadgroup memory: see chunk_tile.h and half_tile.h.
#pragma once

#include "chunk_tile.h"
#include "half_tile.h"

// Stores the sums of half of the rows of x, starting at `first`, where all threads can read them: [x][weights].
template <uint WT, uint MT>
METAL_FUNC void store_half(thread SumTile (&total)[WT][MT], threadgroup float* sums, uint first, uint sg) {
  if ((sg % 2) * (8 * MT) == first) {
#pragma unroll
    for (uint i = 0; i < WT; ++i) {
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        simdgroup_store(total[i][t], sums + 8 * t * 16 * WT + (sg / 2) * (8 * WT) + 8 * i, 16 * WT, ulong2(0, 0), true);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
