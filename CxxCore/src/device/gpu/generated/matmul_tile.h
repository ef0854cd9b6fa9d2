// matmul_tile.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 7 "Shaders/matmul_tile.h"
#include "device/gpu/generated/stored.h"
# 12 "Shaders/matmul_tile.h"
MSL_CONSTANT constexpr uint kStageScratch = 4 * kTileScratch / 2;
# 17 "Shaders/matmul_tile.h"
METAL_FUNC uint staged_row(uint tid, uint i) { return 64 * (i / 2) + 16 * (tid / 32) + 8 * (i % 2) + tid % 32 / 4; }
# 22 "Shaders/matmul_tile.h"
template <uint LD>
METAL_FUNC void store_pair(MSL_THREAD const uint (&low)[kChunkTiles], MSL_THREAD const uint (&high)[kChunkTiles],
                           MSL_THREADGROUP uint* tile, uint pair, uint tid) {
# 32 "Shaders/matmul_tile.h"
  store_words(low, tile + staged_row(tid, 2 * pair) * LD + tid % 4 * 8);
  store_words(high, tile + staged_row(tid, 2 * pair + 1) * LD + tid % 4 * 8);

}


template <uint LD>
METAL_FUNC void load_pair(MSL_THREADGROUP const uint* tile, uint row, uint lane, MSL_THREAD uint (&words)[2][kChunkTiles]) {
# 52 "Shaders/matmul_tile.h"
  for (uint i = 0; i < 2; ++i) {
    load_words(tile + (row + 8 * i + lane / 4) * LD + lane % 4 * 8, words[i]);
  }

}
# 62 "Shaders/matmul_tile.h"
template <typename T, uint BITS, uint WT, uint MT, uint LD>
METAL_FUNC void multiply_tile(MSL_THREAD SumTile (&total)[WT][MT], MSL_DEVICE const T* x, MSL_DEVICE const uint* w,
                              MSL_DEVICE const ushort* w_steps, MSL_THREAD const ulong (&x_at)[MT / 2],
                              MSL_THREAD const ulong (&w_at)[WT / 2], MSL_THREAD Share<BITS> (&w_next)[WT / 2],
                              MSL_CONSTANT pagoda_args::Scales& scales, uint padded_cols, uint run,
                              MSL_THREADGROUP uint* shared_words, uint tid, uint sg, uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  MSL_THREADGROUP uint* w_tile = shared_words;
  MSL_THREADGROUP uint* x_tile = shared_words + 16 * WT * LD;
  MSL_THREADGROUP uint* scratch = shared_words + (16 * WT + 16 * MT) * LD + sg * (kStageScratch / 4);
  MSL_THREADGROUP float* terms = (MSL_THREADGROUP float*)(shared_words + (16 * WT + 16 * MT) * LD + kStageScratch);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
  SumTile acc[WT][MT];

  for (uint i = 0; i < WT; ++i) {

    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint x_next[X_SHARES][kChunkTiles];

  for (uint i = 0; i < X_SHARES; ++i) {
    load_x<BITS>(x + x_at[i], x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; MSL_LOOP(k0 < padded_cols); k0 += kChunk) {

    for (uint i = 0; i < W_SHARES; i += 2) {
      uint words[2][kChunkTiles];
      share_words(w_next[i], scales, words[0]);
      share_words(w_next[i + 1], scales, words[1]);
      stage_terms(Stored<(BITS > 100)>(), w_next[i], scales, terms, staged_row(tid, i), tid % 4);
      stage_terms(Stored<(BITS > 100)>(), w_next[i + 1], scales, terms, staged_row(tid, i + 1), tid % 4);
      store_pair<LD>(words[0], words[1], w_tile, i / 2, tid);
    }

    for (uint i = 0; i < X_SHARES; ++i) {
      store_words(x_next[i], x_tile + (tid / 4 + 32 * i) * LD + tid % 4 * 8);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < padded_cols) {

      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, scales, w_at[i] + k0 + kChunk, w_next[i]);
      }

      for (uint i = 0; i < X_SHARES; ++i) {
        load_x<BITS>(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[MT][kChunkTiles];

    for (uint i = 0; i < MT; ++i) {
      load_words((MSL_THREADGROUP const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }

    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
      load_pair<LD>((MSL_THREADGROUP const uint*)(w_tile), sg_n + 8 * i, lane, w_words);
      multiply_pair<T, BITS, WT, MT>(Stored<(BITS > 100)>(), acc, i, w_words, x_words,
                                     (MSL_THREADGROUP const float*)(terms), sg_n + 8 * i, scales, scratch, lane);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;

      for (uint i = 0; i < WT; ++i) {

        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


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
