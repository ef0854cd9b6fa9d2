// Products of attention with rows of an int8 cache (base/kv_row.h), whose codes are exact bfloats. The scale of a key
// multiplies its scores, that of a value its weight.
#pragma once

#include "cache_row.h"
#include "codes.h"

constant constexpr uint kScratch = kTileScratch / 2;  // words per simdgroup
constant constexpr uint kValueColumns = 32;           // of 8 values that a simdgroup loads at once

// Where a column of values is in sums of add_codes, which have the order of make_row_tiles.
template <bool IS_INT8>
METAL_FUNC uint column_in_sums(uint d) {
  return IS_INT8 ? d / 32 * 32 + d % 8 / 2 * 8 + d % 32 / 8 * 2 + d % 2 : d;
}

METAL_FUNC float scale_of_row(device const char* row, uint dim) { return *(device const float*)(row + scale_at(dim)); }

// The lane's key of a tile of 8. block: the one of the lane's own tile; offset: of the first key in it; all lanes call
METAL_FUNC device const char* row_of_lane(device const char* cache, int block, int offset, uint tile, uint lane,
                                          long block_stride, long slot_stride) {
  return cache + long(simd_shuffle(block, ushort(tile))) * block_stride +
         long(simd_shuffle(offset, ushort(tile)) + int(lane / 4)) * slot_stride;
}

// acc[t][r] += (16 keys) (rows r of q)^T. rows: of each 8 keys, the lane's key and quarter of a chunk. Columns past dim
// are zero in q. scratch: half of kTileScratch words, private to the simdgroup
template <typename T, uint RT>
METAL_FUNC void score_codes(thread SumTile (&acc)[2][RT], device const char* first, device const char* second, uint dim,
                            threadgroup const T* q_tile, uint q_stride, threadgroup uint* scratch, uint lane) {
  constexpr uint AHEAD = 3;  // chunks with loads in flight
  const uint quarter = lane % 4 * 16;
  for (uint begin = 0; begin < dim; begin += AHEAD * kChunk) {
    uint4 codes[AHEAD][2];
#pragma unroll
    for (uint c = 0; c < AHEAD; ++c) {
      codes[c][0] = uint4(0, 0, 0, 0);
      codes[c][1] = uint4(0, 0, 0, 0);
      if (begin + c * kChunk + quarter < dim) {
        codes[c][0] = *(device const uint4*)(first + begin + c * kChunk);
        codes[c][1] = *(device const uint4*)(second + begin + c * kChunk);
      }
    }
#pragma unroll
    for (uint c = 0; c < AHEAD; ++c) {
      const uint column = begin + c * kChunk;
      // Only saves work: the codes are zero.
      if (column < dim) {
        uint k_words[2][kChunkTiles];
        uint q_words[RT][kChunkTiles];
#pragma unroll
        for (uint t = 0; t < 2; ++t) {
          signed_bytes_to_words(codes[c][t], k_words[t]);
        }
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          load_words((threadgroup const uint*)(q_tile + (r * 8 + lane / 4) * q_stride + column + quarter), q_words[r]);
        }
        pair_multiply<T, 2, RT>(acc, 0, k_words, q_words, scratch, lane);
      }
    }
  }
}

// acc[r][i] += (weights of 8 keys) (their values), N / 4 times 32 columns from `first_column`. row: of the lane's key.
// scratch: 128 words, private to the simdgroup
template <typename T, uint RT, uint N>
METAL_FUNC void add_codes(thread SumTile (&acc)[RT][N], thread simdgroup_matrix<T, 8, 8> (&weights)[RT],
                          device const char* row, uint first_column, uint dim, threadgroup uint* scratch, uint lane) {
  uint2 codes[N / 4];
#pragma unroll
  for (uint h = 0; h < N / 4; ++h) {
    const uint column = first_column + h * kValueColumns + lane % 4 * 8;
    codes[h] = uint2(0, 0);
    if (column < dim) {
      codes[h] = *(device const uint2*)(row + column);
    }
  }
#pragma unroll
  for (uint h = 0; h < N / 4; ++h) {
    // Only saves work: these columns are not stored.
    if (first_column + h * kValueColumns < dim) {
      simdgroup_matrix<T, 8, 8> values[4];
      const uint2 a = signed_codes_in(codes[h].x);
      const uint2 b = signed_codes_in(codes[h].y);
      make_row_tiles(uint4(a.x, a.y, b.x, b.y), values, scratch, lane);
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          simdgroup_multiply_accumulate(acc[r][4 * h + j], weights[r], values[j], acc[r][4 * h + j]);
        }
      }
    }
  }
}
