// wide_tile.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 8 "Shaders/wide_tile.h"
#include "device/gpu/generated/stored.h"

MSL_CONSTANT constexpr uint kWideScratch = 5 * 128;


METAL_FUNC ulong tiled_word(uint rows, uint row, uint i) {
  const uint of_chunk = i % (kChunk / 2);
  return (ulong(i / (kChunk / 2)) * rows + row) * (kChunk / 2) + ((of_chunk % 8) ^ (row % 8)) * 4 + of_chunk / 8;
}
# 114 "Shaders/wide_tile.h"
template <typename T, uint BITS, uint TILES>
METAL_FUNC void multiply_wide(MSL_THREAD SumTile (&total)[2][TILES], MSL_DEVICE const uint* x, MSL_DEVICE const uint* w,
                              MSL_DEVICE const ushort* w_steps, uint rows, uint rows_left, MSL_THREAD const ulong (&w_at)[2],
                              MSL_THREAD Share<BITS> (&w_next)[2], MSL_CONSTANT pagoda_args::Matmul& args,
                              MSL_THREADGROUP uint* scratch, uint tid, uint lane) {
  SumTile acc[2][TILES];

  for (uint i = 0; i < 2; ++i) {

    for (uint t = 0; t < TILES; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  for (uint k0 = 0; MSL_LOOP(k0 < args.padded_cols); k0 += kChunk) {
    uint words[2][kChunkTiles];
    uint x_words[TILES][kChunkTiles];

    for (uint i = 0; i < 2; ++i) {
      load_share(w, w_steps, args.scales, w_at[i], k0, w_next[i]);
      share_words(w_next[i], args.scales, words[i]);
    }

    for (uint t = 0; t < TILES; ++t) {
      const uint row = min(rows_left - 1, 8 * t + lane / 4);

      for (uint j = 0; j < kChunkTiles; ++j) {
        x_words[t][j] = x[tiled_word(rows, row, k0 / 2 + lane % 4 * kChunkTiles + j)];
      }
    }
    chunk_multiply<T, 2, TILES>(acc, words, x_words, scratch, lane);
    if ((k0 + kChunk) % args.run == 0 || k0 + kChunk == args.padded_cols) {

      for (uint i = 0; i < 2; ++i) {

        for (uint t = 0; t < TILES; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
  }
}
