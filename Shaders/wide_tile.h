// The tile of matmul_wide: 128 rows of weights times 8 TILES rows of x, by eight simdgroups with 16 rows of weights
// each.
//
// x has the layout that the matrix units of NVIDIA's compute capability 9.0 read: for each chunk of 64 columns, all
// rows one after another, 32 words each. Word j of quarter c (tiles.h) is word 4 (j ^ row % 8) + c.
#pragma once

#include "stored.h"

constant constexpr uint kWideScratch = 5 * 128;  // words per simdgroup, more than kTileScratch

// Where word i of a row is, in words; rows: of the layout, a multiple of 8.
METAL_FUNC ulong tiled_word(uint rows, uint row, uint i) {
  const uint of_chunk = i % (kChunk / 2);
  return (ulong(i / (kChunk / 2)) * rows + row) * (kChunk / 2) + ((of_chunk % 8) ^ (row % 8)) * 4 + of_chunk / 8;
}

#ifdef __MSL_PAIRED_MMA__

// The words of a share. `zero` is a zero that the compiler does not know: words that are only copied would share
// registers with the loads of the next share, which arrive while the matrix units still read them.
template <uint BITS>
METAL_FUNC void wide_words(thread const Share<BITS>& share, constant pagoda_args::Scales& scales, uint zero,
                           thread uint (&words)[kChunkTiles]) {
  share_words(share, scales, words);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    words[j] = BITS == 16 ? words[j] ^ zero : words[j];
  }
}

// total = the products of the simdgroup's rows, with the runs of columns added in order. x: the layout's first chunk
// of the tile's rows; rows: of the layout; rows_left: of these, from the tile's first row on; w_at: start of the lane's
// two shares; w_next: the first of them.
template <typename T, uint BITS, uint TILES>
METAL_FUNC void multiply_wide(thread SumTile (&total)[2][TILES], device const uint* x, device const uint* w,
                              device const ushort* w_steps, uint rows, uint rows_left, thread const ulong (&w_at)[2],
                              thread Share<BITS> (&w_next)[2], constant pagoda_args::Matmul& args,
                              threadgroup uint* scratch, uint tid, uint lane) {
  constexpr uint STAGES = 4;
  constexpr uint AHEAD = 4;  // chunks of weights on the way to the L2 cache
  msl_ring<STAGES, TILES * 1024> ring(tid == 0, 8);
  const uint chunks = args.padded_cols / kChunk;
  const uint tile_rows = min(8 * TILES, rows_left);
  const uint zero = args.rows >> 31;
  wait_for_inputs();
  if (tid == 0) {
    for (uint s = 0; s < min(STAGES - 1, chunks); ++s) {
      ring.fetch(s, x + ulong(s) * rows * (kChunk / 2), tile_rows * kChunk * 2);
    }
  }
  SumTile acc[2][TILES];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint t = 0; t < TILES; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint column = 0;  // of the run
  for (uint k = 0; k < chunks; ++k) {
    uint left[kChunkTiles / 2][4];
    uint words[2][kChunkTiles];
    wide_words<BITS>(w_next[0], args.scales, zero, words[0]);
    wide_words<BITS>(w_next[1], args.scales, zero, words[1]);
#pragma unroll
    for (uint j = 0; j < kChunkTiles / 2; ++j) {
      left[j][0] = words[0][2 * j];
      left[j][1] = words[1][2 * j];
      left[j][2] = words[0][2 * j + 1];
      left[j][3] = words[1][2 * j + 1];
    }
    // Past the end the last chunk is loaded again: a branch here would make the compiler wait for the products.
    const uint next = min(k + 1, chunks - 1) * kChunk;
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      load_share(w, w_steps, args.scales, w_at[i], next, w_next[i]);
      msl_prefetch((device const uchar*)(w) + (w_at[i] + min(k + AHEAD, chunks - 1) * kChunk) * BITS / 8);
    }
    const ulong right = msl_swizzled_rows(ring.await(k));
    msl_warpgroup_begin(acc);
#pragma unroll
    for (uint j = 0; j < kChunkTiles / 2; ++j) {
      msl_warpgroup_multiply(acc, T(0.0f), left[j], right + 2 * j, j > 0 || column > 0);
    }
    msl_warpgroup_commit();
    if (tid / 32 == 0) {
      if (lane == 0 && k + STAGES - 1 < chunks) {
        ring.fetch(k + STAGES - 1, x + ulong(k + STAGES - 1) * rows * (kChunk / 2), tile_rows * kChunk * 2);
      }
      simdgroup_barrier(mem_flags::mem_none);
    }
    msl_warpgroup_wait(acc);
    if (lane == 0) {
      ring.release(k);
    }
    column += kChunk;
    if (column == args.run || k + 1 == chunks) {
      column = 0;
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
#pragma unroll
        for (uint t = 0; t < TILES; ++t) {
          msl_add(total[i][t], acc[i][t]);
        }
      }
    }
  }
}

#else

template <typename T, uint BITS, uint TILES>
METAL_FUNC void multiply_wide(thread SumTile (&total)[2][TILES], device const uint* x, device const uint* w,
                              device const ushort* w_steps, uint rows, uint rows_left, thread const ulong (&w_at)[2],
                              thread Share<BITS> (&w_next)[2], constant pagoda_args::Matmul& args,
                              threadgroup uint* scratch, uint tid, uint lane) {
  SumTile acc[2][TILES];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint t = 0; t < TILES; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
    uint words[2][kChunkTiles];
    uint x_words[TILES][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      load_share(w, w_steps, args.scales, w_at[i], k0, w_next[i]);
      share_words(w_next[i], args.scales, words[i]);
    }
#pragma unroll
    for (uint t = 0; t < TILES; ++t) {
      const uint row = min(rows_left - 1, 8 * t + lane / 4);
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        x_words[t][j] = x[tiled_word(rows, row, k0 / 2 + lane % 4 * kChunkTiles + j)];
      }
    }
    chunk_multiply<T, 2, TILES>(acc, words, x_words, scratch, lane);
    if ((k0 + kChunk) % args.run == 0 || k0 + kChunk == args.padded_cols) {
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
#pragma unroll
        for (uint t = 0; t < TILES; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
  }
}

#endif
