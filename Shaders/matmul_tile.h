// The loop of matmul_tiles and expert_many over the columns of 16 MT rows of x and 16 WT rows of weights.
//
// 128 threads; of their four simdgroups each has half of both. They stage a chunk of both operands in threadgroup
// memory while the loads of the next one are in flight.
#pragma once

#include "matmul.h"

#ifdef __MSL_PAIRED_MMA__
constant constexpr uint kStageScratch = 0;  // words of all simdgroups
#else
constant constexpr uint kStageScratch = 4 * kTileScratch / 2;
#endif

// total = the products of the simdgroup's rows, its runs of columns added in order. x_at, w_at: where what the thread
// stages begins, of rows tid / 4, tid / 4 + 32, ...; w_next: the first of it. LD: words of a staged row.
// shared_words: (16 WT + 16 MT) LD + kStageScratch words.
template <typename T, uint BITS, uint WT, uint MT, uint LD>
METAL_FUNC void multiply_tile(thread SumTile (&total)[WT][MT], device const T* x, device const uint* w,
                              device const ushort* w_steps, thread const ulong (&x_at)[MT / 2],
                              thread const ulong (&w_at)[WT / 2], thread Share<BITS> (&w_next)[WT / 2],
                              uint padded_cols, uint run, threadgroup uint* shared_words, uint tid, uint sg,
                              uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  threadgroup uint* w_tile = shared_words;
  threadgroup uint* x_tile = shared_words + 16 * WT * LD;
  threadgroup uint* scratch = shared_words + (16 * WT + 16 * MT) * LD + sg * (kStageScratch / 4);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
  const uint stage_row = tid / 4;
  const uint stage_word = tid % 4 * 8;
  SumTile acc[WT][MT];
#pragma unroll
  for (uint i = 0; i < WT; ++i) {
#pragma unroll
    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint x_next[X_SHARES][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < X_SHARES; ++i) {
    load_x(x + x_at[i], x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; k0 < padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint i = 0; i < W_SHARES; ++i) {
      uint words[kChunkTiles];
      share_words(w_next[i], words);
      store_words(words, w_tile + (stage_row + 32 * i) * LD + stage_word);
    }
#pragma unroll
    for (uint i = 0; i < X_SHARES; ++i) {
      store_words(x_next[i], x_tile + (stage_row + 32 * i) * LD + stage_word);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < padded_cols) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, w_at[i] + k0 + kChunk, w_next[i]);
      }
#pragma unroll
      for (uint i = 0; i < X_SHARES; ++i) {
        load_x(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[MT][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < MT; ++i) {
      load_words((threadgroup const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * LD + lane % 4 * 8), x_words[i]);
    }
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
#pragma unroll
      for (uint j = 0; j < 2; ++j) {
        load_words((threadgroup const uint*)(w_tile + (sg_n + 8 * (i + j) + lane / 4) * LD + lane % 4 * 8), w_words[j]);
      }
      pair_multiply<T, WT, MT>(acc, i, w_words, x_words, scratch, lane);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

// Puts the sums of a half of the rows of x, those from `first` on, where all threads find them: [x][weights].
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
