// The loop of matmul_tiles and expert_many for GPUs with 128 registers per thread: half a chunk is staged at a time, as
// tiles that are loaded one by one. The same products in the same order as those of chunk_tile.h.
#pragma once

#include "stored.h"

#ifndef __MSL_PAIRED_MMA__

constant constexpr uint kStagedWords = kChunk / 4;  // per row
constant constexpr uint kFactorWords = 4 * 64;      // a matrix per simdgroup, for stored formats
constant constexpr uint kHalfTiles = kChunkTiles / 2;

// Half h of a thread's share of x, as load_x has it.
template <typename T, uint BITS>
METAL_FUNC void load_x_half(device const T* x, uint h, thread uint (&words)[kHalfTiles]) {
  if (BITS > 200) {
    const uint2 a = *(device const uint2*)(x + 32 * h);
    const uint2 b = *(device const uint2*)(x + 32 * h + 16);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = b.x;
    words[3] = b.y;
  } else {
    const uint4 a = *(device const uint4*)(x + (BITS > 100 ? 32 : 8) * h);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = a.z;
    words[3] = a.w;
  }
}

// What half h of a share needs beyond the half before: 16-bit weights take as many registers as their words, others are
// loaded whole.
METAL_FUNC void load_half(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, uint h, thread Share<16>& to) {
  const uint4 a = *(device const uint4*)(w + at / 2 + 4 * h);
  if (h == 0) {
    to.a = a;
  } else {
    to.b = a;
  }
}

template <uint BITS>
METAL_FUNC void load_half(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, uint h, thread Share<BITS>& to) {
  for (uint first = h; first == 0; ++first) {  // a share has both halves: loaded once
    load_share(w, steps, scales, at, 0, to);
  }
}

// Words 4 h .. 4 h + 3 of share_words, unpacked when they are needed: a share takes fewer registers than its words.
METAL_FUNC void half_words(thread const Share<16>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const uint4 a = h == 0 ? share.a : share.b;
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
}

METAL_FUNC void half_words(thread const Share<8>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(h == 0 ? share.a.x : share.a.z, unit);
  const uint2 b = words_of_bytes(h == 0 ? share.a.y : share.a.w, unit);
  words[0] = a.x;
  words[1] = a.y;
  words[2] = b.x;
  words[3] = b.y;
}

METAL_FUNC void half_words(thread const Share<4>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const NibbleTerms terms = nibble_terms(share.steps);
  const uint nibbles = h == 0 ? share.a.x : share.a.y;
  words[0] = pair_of_nibbles(nibbles << 3, terms);
#pragma unroll
  for (uint j = 1; j < kHalfTiles; ++j) {
    words[j] = pair_of_nibbles(nibbles >> (4 * j - 3), terms);
  }
}

METAL_FUNC void half_words(thread const Share<kStored4>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const float shift = -16.0f - float(scales.zero);
  const uint shifts = pack_exact(shift, shift);
  const uint nibbles = h == 0 ? share.a.x : share.a.y;
  words[0] = pair_of_codes(nibbles << 3, shifts);
#pragma unroll
  for (uint j = 1; j < kHalfTiles; ++j) {
    words[j] = pair_of_codes(nibbles >> (4 * j - 3), shifts);
  }
}

METAL_FUNC void half_of_bytes(uint4 bytes, constant pagoda_args::Scales& scales, uint h,
                              thread uint (&words)[kHalfTiles]) {
  const bool is_float = (scales.kind & kFloatCodes) != 0;
  const float zero = float(scales.zero);
  const uint2 a = stored_words(h == 0 ? bytes.x : bytes.z, is_float, zero);
  const uint2 b = stored_words(h == 0 ? bytes.y : bytes.w, is_float, zero);
  words[0] = a.x;
  words[1] = a.y;
  words[2] = b.x;
  words[3] = b.y;
}

METAL_FUNC void half_words(thread const Share<kStored8>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  half_of_bytes(share.a, scales, h, words);
}

METAL_FUNC void half_words(thread const Share<kFine8>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  half_of_bytes(share.a, scales, h, words);
}

// Stores half of a share as rows of tiles: word j of all lanes is a tile of 8 rows (tiles.h).
METAL_FUNC void store_half_share(thread const uint (&words)[kHalfTiles], threadgroup uint* rows, uint row,
                                 uint quarter) {
  threadgroup uint* to = rows + row / 8 * (8 * kStagedWords) + row % 8 * 4 + quarter;
#pragma unroll
  for (uint j = 0; j < kHalfTiles; ++j) {
    to[32 * j] = words[j];
  }
}

// Tile j of a staged half, of the 8 rows that start at `row`.
template <typename T, bool TRANSPOSED>
METAL_FUNC void load_tile(thread simdgroup_matrix<T, 8, 8>& tile, threadgroup const uint* rows, uint row, uint j) {
  simdgroup_load(tile, (threadgroup const T*)(rows + row * kStagedWords + 32 * j), 8, ulong2(0, 0), TRANSPOSED);
}

// A factor for each of 8 rows as a matrix: row r of the simdgroup's has `factor` of lanes 4 r .. 4 r + 3.
METAL_FUNC void make_factors(thread SumTile& factors, float factor, threadgroup float* scratch, uint lane) {
  const uint column = lane % 4 * 2;
  scratch[2 * lane] = column == lane / 4 ? factor : 0.0f;
  scratch[2 * lane + 1] = column + 1 == lane / 4 ? factor : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(factors, (threadgroup const float*)(scratch), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

// acc += the products of a staged half, tile after tile. w_rows, x_rows: the simdgroup's
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_half(Stored<false> kind, thread SumTile (&acc)[WT][MT], threadgroup const uint* w_rows,
                              threadgroup const uint* x_rows, uint half_index, threadgroup const float* terms,
                              bool has_mins, threadgroup float* scratch, uint lane) {
#pragma unroll
  for (uint j = 0; j < kHalfTiles; ++j) {
    simdgroup_matrix<T, 8, 8> right[MT];
#pragma unroll
    for (uint t = 0; t < MT; ++t) {
      load_tile<T, true>(right[t], x_rows, 8 * t, j);
    }
#pragma unroll
    for (uint i = 0; i < WT; ++i) {
      simdgroup_matrix<T, 8, 8> left;
      load_tile<T, false>(left, w_rows, 8 * i, j);
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        simdgroup_multiply_accumulate(acc[i][t], left, right[t], acc[i][t]);
      }
    }
  }
}

// The same group by group, as add_groups: two tiles of weights at a time. terms: of the simdgroup's rows of weights
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_half(Stored<true> kind, thread SumTile (&acc)[WT][MT], threadgroup const uint* w_rows,
                              threadgroup const uint* x_rows, uint half_index, threadgroup const float* terms,
                              bool has_mins, threadgroup float* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  constexpr uint TILES = kChunkTiles / GROUPS;  // of a group
  const simdgroup_matrix<T, 8, 8> ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
#pragma unroll
  for (uint group = 0; group < GROUPS / 2; ++group) {
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      simdgroup_matrix<T, 8, 8> left[2][TILES];
      SumTile factors[2];
      SumTile mins[2];
#pragma unroll
      for (uint n = 0; n < 2; ++n) {
        threadgroup const float* of_row =
            terms + (8 * (i + n) + lane / 4) * 2 * GROUPS + half_index * (GROUPS / 2) + group;
        make_factors(factors[n], of_row[0], scratch, lane);
        make_factors(mins[n], of_row[GROUPS], scratch, lane);
#pragma unroll
        for (uint j = 0; j < TILES; ++j) {
          load_tile<T, false>(left[n][j], w_rows, 8 * (i + n), group * TILES + j);
        }
      }
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        SumTile x_sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        SumTile part[2];
#pragma unroll
        for (uint n = 0; n < 2; ++n) {
          part[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
#pragma unroll
        for (uint j = 0; j < TILES; ++j) {
          simdgroup_matrix<T, 8, 8> right;
          load_tile<T, true>(right, x_rows, 8 * t, group * TILES + j);
#pragma unroll
          for (uint n = 0; n < 2; ++n) {
            simdgroup_multiply_accumulate(part[n], left[n][j], right, part[n]);
          }
          // Only saves work: without minima the sum is not used.
          if (has_mins) {
            simdgroup_multiply_accumulate(x_sum, ones, right, x_sum);
          }
        }
#pragma unroll
        for (uint n = 0; n < 2; ++n) {
          simdgroup_multiply_accumulate(acc[i + n][t], factors[n], part[n], acc[i + n][t]);
          // Only saves work: without minima the sum is zero.
          if (has_mins) {
            simdgroup_multiply_accumulate(acc[i + n][t], mins[n], x_sum, acc[i + n][t]);
          }
        }
      }
    }
  }
}

// As multiply_tile of chunk_tile.h.
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_tile(thread SumTile (&total)[WT][MT], device const T* x, device const uint* w,
                              device const ushort* w_steps, thread const ulong (&x_at)[MT / 2],
                              thread const ulong (&w_at)[WT / 2], thread Share<BITS> (&w_next)[WT / 2],
                              constant pagoda_args::Scales& scales, uint padded_cols, uint run,
                              threadgroup uint* shared_words, uint tid, uint sg, uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  constexpr uint TERMS = BITS > 200 ? 8 : 4;
  threadgroup uint* x_tile = shared_words + 16 * WT * kStagedWords;
  threadgroup float* scratch = (threadgroup float*)(x_tile + 16 * MT * kStagedWords + sg * (kFactorWords / 4));
  threadgroup float* terms = (threadgroup float*)(x_tile + 16 * MT * kStagedWords + kFactorWords);
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
  uint x_next[X_SHARES][kHalfTiles];
#pragma unroll
  for (uint i = 0; i < X_SHARES; ++i) {
    load_x_half<T, BITS>(x + x_at[i], 0, x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; k0 < padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint h = 0; h < 2; ++h) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        uint words[kHalfTiles];
        half_words(w_next[i], scales, h, words);
        store_half_share(words, shared_words, staged_row(tid, i), tid % 4);
        for (uint first = h; first == 0; ++first) {
          stage_terms(Stored<(BITS > 100)>(), w_next[i], scales, terms, staged_row(tid, i), tid % 4);
        }
      }
#pragma unroll
      for (uint i = 0; i < X_SHARES; ++i) {
        store_half_share(x_next[i], x_tile, tid / 4 + 32 * i, tid % 4);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint next = k0 + h * kChunk;  // the chunk of the next half
      if (next < padded_cols) {
#pragma unroll
        for (uint i = 0; i < W_SHARES; ++i) {
          load_half(w, w_steps, scales, w_at[i] + next, 1 - h, w_next[i]);
        }
#pragma unroll
        for (uint i = 0; i < X_SHARES; ++i) {
          load_x_half<T, BITS>(x + x_at[i] + next, 1 - h, x_next[i]);
        }
      }
      multiply_half<T, BITS, WT, MT>(
          Stored<(BITS > 100)>(), acc, (threadgroup const uint*)(shared_words + sg_n * kStagedWords),
          (threadgroup const uint*)(x_tile + sg_m * kStagedWords), h, (threadgroup const float*)(terms + sg_n * TERMS),
          (scales.kind & kHasMins) != 0, scratch, lane);
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], shared_words + 128 * sg, lane);
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
}

#endif
