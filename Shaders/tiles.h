// Matrix products of 16-bit operands with float sums, 64 columns (a chunk) at a time.
//
// A lane has one row (lane / 4) of an 8-row operand and 16 adjacent columns of it (starting at 16 (lane % 4)), as eight
// words of two: one or two wide loads. Word j of all lanes forms tile j of the chunk, an 8x8 matrix; so tile j holds
// the columns 16 c + 2 j and 16 c + 2 j + 1 of all c < 4. Both operands are divided in the same way, and a sum takes
// the tiles in order.
#pragma once

#include "common.h"

constant constexpr uint kChunk = 64;
constant constexpr uint kChunkTiles = 8;
constant constexpr uint kTileScratch = 2 * kChunkTiles * 32;  // words that chunk_multiply needs per simdgroup

typedef simdgroup_matrix<float, 8, 8> SumTile;

// Packs two numbers into one word, the first in the low half.
METAL_FUNC uint pack_half(float first, float second) {
#ifdef __MSL_PAIRED_MMA__
  return msl_pack_half(first, second);
#else
  return uint(as_type<ushort>(half(first))) | uint(as_type<ushort>(half(second))) << 16;
#endif
}

METAL_FUNC uint pack_bfloat(float first, float second) {
#ifdef __MSL_PAIRED_MMA__
  return msl_pack_bfloat(first, second);
#else
  return uint(as_type<ushort>(bfloat(first))) | uint(as_type<ushort>(bfloat(second))) << 16;
#endif
}

// Packs two numbers that bfloats hold exactly: the low halves of their words are zero, so none is masked.
METAL_FUNC uint pack_exact(float first, float second) { return as_type<uint>(first) >> 16 | as_type<uint>(second); }

// (a & mask) | bits
METAL_FUNC uint and_or(uint a, uint mask, uint bits) {
#ifdef __MSL_PAIRED_MMA__
  return msl_and_or(a, mask, bits);
#else
  return (a & mask) | bits;
#endif
}

// a * b + c of two bfloats each, for sums that bfloats hold exactly.
METAL_FUNC uint fma_bfloats(uint a, uint b, uint c) {
#ifdef __MSL_PAIRED_MMA__
  return msl_fma_bfloats(a, b, c);
#else
  const float first = fma(as_type<float>(a << 16), as_type<float>(b << 16), as_type<float>(c << 16));
  const float second =
      fma(as_type<float>(a & 0xffff0000u), as_type<float>(b & 0xffff0000u), as_type<float>(c & 0xffff0000u));
  return pack_exact(first, second);
#endif
}

METAL_FUNC void set_words(uint4 a, uint4 b, thread uint (&words)[kChunkTiles]) {
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
  words[4] = b.x;
  words[5] = b.y;
  words[6] = b.z;
  words[7] = b.w;
}

// The tiles of a chunk from the words of all lanes: unchanged, or transposed.
template <typename T, bool TRANSPOSED>
METAL_FUNC void make_tiles(thread const uint (&words)[kChunkTiles],
                           thread simdgroup_matrix<T, 8, 8> (&tiles)[kChunkTiles], threadgroup uint* scratch,
                           uint lane) {
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's lanes hold exactly these words: rows of a left operand, columns of a right one.
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    msl_set_word<T, TRANSPOSED>(tiles[j], words[j]);
  }
#else
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    simdgroup_load(tiles[j], (threadgroup const T*)(scratch + j * 32), 8, ulong2(0, 0), TRANSPOSED);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
}

// Four tiles of 8 rows for the right side of a product, from the words of all lanes, which have 8 columns of a row
// each: tile j holds the columns 8 c + 2 j and 8 c + 2 j + 1 of all c < 4. scratch: 128 words, private to the simdgroup
template <typename T>
METAL_FUNC void make_row_tiles(uint4 words, thread simdgroup_matrix<T, 8, 8> (&tiles)[4], threadgroup uint* scratch,
                               uint lane) {
#ifdef __MSL_PAIRED_MMA__
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    msl_set_row_word<T>(tiles[j], words[j]);
  }
#else
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    simdgroup_load(tiles[j], (threadgroup const T*)(scratch + j * 32), 8);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
}

// acc[first + i][t] += (rows i of w) (rows t of x)^T over one chunk, two tiles of w at a time. scratch: half of
// kTileScratch words, private to the simdgroup. The same sums as chunk_multiply.
template <typename T, uint R, uint M>
METAL_FUNC void pair_multiply(thread SumTile (&acc)[R][M], uint first, thread const uint (&w)[2][kChunkTiles],
                              thread const uint (&x)[M][kChunkTiles], threadgroup uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[2][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#ifdef __MSL_PAIRED_MMA__
  simdgroup_matrix<T, 8, 8> right[M][kChunkTiles];
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    make_tiles<T, true>(x[t], right[t], scratch, lane);
  }
// Consecutive products add to different sums: none waits for the one before it.
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
#pragma unroll
    for (uint t = 0; t < M; ++t) {
      msl_multiply_accumulate_pairs(acc[first][t], acc[first + 1][t], left[0][j], left[1][j], left[0][j + 1],
                                    left[1][j + 1], right[t][j], right[t][j + 1], true);
    }
  }
#else
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch, lane);
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[first + i][t], left[i][j], right[j], acc[first + i][t]);
      }
    }
  }
#endif
}

// acc[i][t] += (rows i of w) (rows t of x)^T over one chunk. scratch: kTileScratch words, private to the simdgroup.
template <typename T, uint R, uint M>
METAL_FUNC void chunk_multiply(thread SumTile (&acc)[R][M], thread const uint (&w)[R][kChunkTiles],
                               thread const uint (&x)[M][kChunkTiles], threadgroup uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[R][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch + kTileScratch / 2, lane);
#ifdef __MSL_PAIRED_MMA__
// NVIDIA's tile is 16 x 16 times 16 x 8: two of ours in each direction.
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; j += 2) {
        msl_multiply_accumulate_pairs(acc[i][t], acc[min(i + 1, R - 1)][t], left[i][j], left[min(i + 1, R - 1)][j],
                                      left[i][j + 1], left[min(i + 1, R - 1)][j + 1], right[j], right[j + 1],
                                      i + 1 < R);
      }
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[i][t], left[i][j], right[j], acc[i][t]);
      }
    }
#endif
  }
}

// total += part, then clears part. scratch: 128 words, private to the simdgroup
METAL_FUNC void move_sum(thread SumTile& total, thread SumTile& part, threadgroup uint* scratch, uint lane) {
#ifdef __MSL_PAIRED_MMA__
  msl_add(total, part);
#else
  threadgroup float* sums = (threadgroup float*)(scratch);
  simdgroup_store(total, sums, 8);
  simdgroup_store(part, sums + 64, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sums[lane] = sums[lane] + sums[64 + lane];
  sums[32 + lane] = sums[32 + lane] + sums[96 + lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(total, (threadgroup const float*)(sums), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

METAL_FUNC void store_words(thread const uint (&words)[kChunkTiles], threadgroup uint* to) {
  *(threadgroup uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(threadgroup uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}

METAL_FUNC void load_words(threadgroup const uint* from, thread uint (&words)[kChunkTiles]) {
  set_words(*(threadgroup const uint4*)(from), *(threadgroup const uint4*)(from + 4), words);
}
