// attention_int8.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 5 "Shaders/attention_int8.h"
#include "device/gpu/generated/cache_row.h"
#include "device/gpu/generated/codes.h"

MSL_CONSTANT constexpr uint kScratch = kTileScratch / 2;
MSL_CONSTANT constexpr uint kValueColumns = 32;


template <bool IS_INT8>
METAL_FUNC uint column_in_sums(uint d) {
  return IS_INT8 ? d / 32 * 32 + d % 8 / 2 * 8 + d % 32 / 8 * 2 + d % 2 : d;
}

METAL_FUNC float scale_of_row(MSL_DEVICE const char* row, uint dim) { return *(MSL_DEVICE const float*)(row + scale_at(dim)); }


METAL_FUNC MSL_DEVICE const char* row_of_lane(MSL_DEVICE const char* cache, int block, int offset, uint tile, uint lane,
                                          long block_stride, long slot_stride) {
  return cache + long(simd_shuffle(block, ushort(tile))) * block_stride +
         long(simd_shuffle(offset, ushort(tile)) + int(lane / 4)) * slot_stride;
}
# 28 "Shaders/attention_int8.h"
template <typename T, uint RT>
METAL_FUNC void score_codes(MSL_THREAD SumTile (&acc)[2][RT], MSL_DEVICE const char* first, MSL_DEVICE const char* second, uint dim,
                            MSL_THREADGROUP const T* q_tile, uint q_stride, MSL_THREADGROUP uint* scratch, uint lane) {
  constexpr uint AHEAD = 3;
  const uint quarter = lane % 4 * 16;
  for (uint begin = 0; MSL_LOOP(begin < dim); begin += AHEAD * kChunk) {
    uint4 codes[AHEAD][2];

    for (uint c = 0; c < AHEAD; ++c) {
      codes[c][0] = uint4(0, 0, 0, 0);
      codes[c][1] = uint4(0, 0, 0, 0);
      if (begin + c * kChunk + quarter < dim) {
        codes[c][0] = *(MSL_DEVICE const uint4*)(first + begin + c * kChunk);
        codes[c][1] = *(MSL_DEVICE const uint4*)(second + begin + c * kChunk);
      }
    }

    for (uint c = 0; c < AHEAD; ++c) {
      const uint column = begin + c * kChunk;

      if (column < dim) {
        uint k_words[2][kChunkTiles];
        uint q_words[RT][kChunkTiles];

        for (uint t = 0; t < 2; ++t) {
          signed_bytes_to_words(codes[c][t], k_words[t]);
        }

        for (uint r = 0; r < RT; ++r) {
          load_words((MSL_THREADGROUP const uint*)(q_tile + (r * 8 + lane / 4) * q_stride + column + quarter), q_words[r]);
        }
        pair_multiply<T, 2, RT>(acc, 0, k_words, q_words, scratch, lane);
      }
    }
  }
}
# 67 "Shaders/attention_int8.h"
template <typename T, uint RT, uint N>
METAL_FUNC void add_codes(MSL_THREAD SumTile (&acc)[RT][N], MSL_THREAD simdgroup_matrix<T, 8, 8> (&weights)[RT],
                          MSL_DEVICE const char* row, uint first_column, uint dim, MSL_THREADGROUP uint* scratch, uint lane) {
  uint2 codes[N / 4];

  for (uint h = 0; h < N / 4; ++h) {
    const uint column = first_column + h * kValueColumns + lane % 4 * 8;
    codes[h] = uint2(0, 0);
    if (column < dim) {
      codes[h] = *(MSL_DEVICE const uint2*)(row + column);
    }
  }

  for (uint h = 0; h < N / 4; ++h) {

    if (first_column + h * kValueColumns < dim) {
      simdgroup_matrix<T, 8, 8> values[4];
      const uint2 a = signed_codes_in(codes[h].x);
      const uint2 b = signed_codes_in(codes[h].y);
      make_row_tiles(uint4(a.x, a.y, b.x, b.y), values, scratch, lane);

      for (uint j = 0; j < 4; ++j) {

        for (uint r = 0; r < RT; ++r) {
          simdgroup_multiply_accumulate(acc[r][4 * h + j], weights[r], values[j], acc[r][4 * h + j]);
        }
      }
    }
  }
}
