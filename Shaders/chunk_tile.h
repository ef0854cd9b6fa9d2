// The loop of matmul_tiles and expert_many for NVIDIA GPUs, which have 255 registers per thread: a chunk of both
// operands is staged in threadgroup memory while the loads of the next chunk are in flight, and taken from there in
// words.
#pragma once

#include "stored.h"

#ifdef __MSL_PAIRED_MMA__

constant constexpr uint kStagedWords = kChunk / 2 + 4;  // per row: rows start in different banks
constant constexpr uint kFactorWords = 0;

// acc[first + i][t] += (rows i of w) (rows t of x)^T over one chunk, for two tiles of staged rows, the first of which
// is `row`. staged: the terms of all rows
template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_pair(Stored<false> kind, thread SumTile (&acc)[R][M], uint first,
                              thread const uint (&w)[2][kChunkTiles], thread const uint (&x)[M][kChunkTiles],
                              threadgroup const float* staged, uint row, constant pagoda_args::Scales& scales,
                              threadgroup uint* scratch, uint lane) {
  pair_multiply<T, R, M>(acc, first, w, x, scratch, lane);
}

template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_pair(Stored<true> kind, thread SumTile (&acc)[R][M], uint first,
                              thread const uint (&w)[2][kChunkTiles], thread const uint (&x)[M][kChunkTiles],
                              threadgroup const float* staged, uint row, constant pagoda_args::Scales& scales,
                              threadgroup uint* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  float terms[2][2 * GROUPS];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint g = 0; g < 2 * GROUPS; ++g) {
      terms[i][g] = staged[(row + 8 * i + lane / 4) * 2 * GROUPS + g];
    }
  }
  add_groups<T, GROUPS, 2, R, M>(acc, first, w, terms, x, (scales.kind & kHasMins) != 0, scratch, lane);
}

// Stores two shares in the order that load_pair reads. An NVIDIA lane multiplies four words at once, two of each row:
// they are stored next to each other, lane after lane, so that one load fetches them. tile: the threadgroup's weights
METAL_FUNC void store_pair(thread const uint (&low)[kChunkTiles], thread const uint (&high)[kChunkTiles],
                           threadgroup uint* tile, uint pair, uint tid) {
  threadgroup uint* to = tile + (4 * pair + tid / 32) * (16 * kChunk / 2) + tid % 32 * 4;
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
    *(threadgroup uint4*)(to + 64 * j) = uint4(low[j], high[j], low[j + 1], high[j + 1]);
  }
}

// A lane's words of the tile of 16 rows that starts at `row`.
METAL_FUNC void load_pair(threadgroup const uint* tile, uint row, uint lane, thread uint (&words)[2][kChunkTiles]) {
  threadgroup const uint* from = tile + row * (kChunk / 2) + lane * 4;
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
    const uint4 four = *(threadgroup const uint4*)(from + 64 * j);
    words[0][j] = four.x;
    words[1][j] = four.y;
    words[0][j + 1] = four.z;
    words[1][j + 1] = four.w;
  }
}

// total = the products of the simdgroup's rows, with the runs of columns added in order. x_at, w_at: start of the
// thread's shares: those of x in rows tid / 4, tid / 4 + 32, ..., those of weights in staged_row(); w_next: the first
// of them. shared_words: (16 WT + 16 MT) kStagedWords, and for stored formats kFactorWords and the terms of every row
// of weights.
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_tile(thread SumTile (&total)[WT][MT], device const T* x, device const uint* w,
                              device const ushort* w_steps, thread const ulong (&x_at)[MT / 2],
                              thread const ulong (&w_at)[WT / 2], thread Share<BITS> (&w_next)[WT / 2],
                              constant pagoda_args::Scales& scales, uint padded_cols, uint run,
                              threadgroup uint* shared_words, uint tid, uint sg, uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  threadgroup uint* w_tile = shared_words;
  threadgroup uint* x_tile = shared_words + 16 * WT * kStagedWords;
  threadgroup float* terms = (threadgroup float*)(shared_words + (16 * WT + 16 * MT) * kStagedWords);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
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
    load_x<BITS>(x + x_at[i], x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; k0 < padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint i = 0; i < W_SHARES; i += 2) {
      uint words[2][kChunkTiles];
      share_words(w_next[i], scales, words[0]);
      share_words(w_next[i + 1], scales, words[1]);
      stage_terms(Stored<(BITS > 100)>(), w_next[i], scales, terms, staged_row(tid, i), tid % 4);
      stage_terms(Stored<(BITS > 100)>(), w_next[i + 1], scales, terms, staged_row(tid, i + 1), tid % 4);
      store_pair(words[0], words[1], w_tile, i / 2, tid);
    }
#pragma unroll
    for (uint i = 0; i < X_SHARES; ++i) {
      store_words(x_next[i], x_tile + (tid / 4 + 32 * i) * kStagedWords + tid % 4 * 8);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < padded_cols) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, scales, w_at[i], k0 + kChunk, w_next[i]);
      }
#pragma unroll
      for (uint i = 0; i < X_SHARES; ++i) {
        load_x<BITS>(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[MT][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < MT; ++i) {
      load_words((threadgroup const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * kStagedWords + lane % 4 * 8),
                 x_words[i]);
    }
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
      load_pair((threadgroup const uint*)(w_tile), sg_n + 8 * i, lane, w_words);
      multiply_pair<T, BITS, WT, MT>(Stored<(BITS > 100)>(), acc, i, w_words, x_words,
                                     (threadgroup const float*)(terms), sg_n + 8 * i, scales, shared_words, lane);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], shared_words, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

#endif
