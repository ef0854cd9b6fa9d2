// tiles.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 9 "Shaders/tiles.h"
#include "device/gpu/generated/common.h"

MSL_CONSTANT constexpr uint kChunk = 64;
MSL_CONSTANT constexpr uint kChunkTiles = 8;
MSL_CONSTANT constexpr uint kTileScratch = 2 * kChunkTiles * 32;

typedef simdgroup_matrix<float, 8, 8> SumTile;


METAL_FUNC uint pack_half(float first, float second) {
# 22 "Shaders/tiles.h"
  return uint(as_type<ushort>(half(first))) | uint(as_type<ushort>(half(second))) << 16;

}

METAL_FUNC uint pack_bfloat(float first, float second) {
# 30 "Shaders/tiles.h"
  return uint(as_type<ushort>(bfloat(first))) | uint(as_type<ushort>(bfloat(second))) << 16;

}


METAL_FUNC uint pack_exact(float first, float second) { return as_type<uint>(first) >> 16 | as_type<uint>(second); }


METAL_FUNC uint and_or(uint a, uint mask, uint bits) {
# 42 "Shaders/tiles.h"
  return (a & mask) | bits;

}


METAL_FUNC uint fma_bfloats(uint a, uint b, uint c) {
# 51 "Shaders/tiles.h"
  const float first = fma(as_type<float>(a << 16), as_type<float>(b << 16), as_type<float>(c << 16));
  const float second =
      fma(as_type<float>(a & 0xffff0000u), as_type<float>(b & 0xffff0000u), as_type<float>(c & 0xffff0000u));
  return pack_exact(first, second);

}

METAL_FUNC void set_words(uint4 a, uint4 b, MSL_THREAD uint (&words)[kChunkTiles]) {
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
  words[4] = b.x;
  words[5] = b.y;
  words[6] = b.z;
  words[7] = b.w;
}


template <typename T, bool TRANSPOSED>
METAL_FUNC void make_tiles(MSL_THREAD const uint (&words)[kChunkTiles],
                           MSL_THREAD simdgroup_matrix<T, 8, 8> (&tiles)[kChunkTiles], MSL_THREADGROUP uint* scratch,
                           uint lane) {
# 82 "Shaders/tiles.h"
  for (uint j = 0; j < kChunkTiles; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  for (uint j = 0; j < kChunkTiles; ++j) {
    simdgroup_load(tiles[j], (MSL_THREADGROUP const T*)(scratch + j * 32), 8, ulong2(0, 0), TRANSPOSED);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

}
# 96 "Shaders/tiles.h"
template <typename T>
METAL_FUNC void make_row_tiles(uint4 words, MSL_THREAD simdgroup_matrix<T, 8, 8> (&tiles)[4], MSL_THREADGROUP uint* scratch,
                               uint lane) {
# 106 "Shaders/tiles.h"
  for (uint j = 0; j < 4; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  for (uint j = 0; j < 4; ++j) {
    simdgroup_load(tiles[j], (MSL_THREADGROUP const T*)(scratch + j * 32), 8);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

}
# 120 "Shaders/tiles.h"
template <typename T, uint R, uint M>
METAL_FUNC void pair_multiply(MSL_THREAD SumTile (&acc)[R][M], uint first, MSL_THREAD const uint (&w)[2][kChunkTiles],
                              MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_THREADGROUP uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[2][kChunkTiles];

  for (uint i = 0; i < 2; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
# 145 "Shaders/tiles.h"
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch, lane);

    for (uint i = 0; i < 2; ++i) {

      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[first + i][t], left[i][j], right[j], acc[first + i][t]);
      }
    }
  }

}


template <typename T, uint R, uint M>
METAL_FUNC void chunk_multiply(MSL_THREAD SumTile (&acc)[R][M], MSL_THREAD const uint (&w)[R][kChunkTiles],
                               MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_THREADGROUP uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[R][kChunkTiles];

  for (uint i = 0; i < R; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }

  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch + kTileScratch / 2, lane);
# 185 "Shaders/tiles.h"
    for (uint i = 0; i < R; ++i) {

      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[i][t], left[i][j], right[j], acc[i][t]);
      }
    }

  }
}


METAL_FUNC void move_sum(MSL_THREAD SumTile& total, MSL_THREAD SumTile& part, MSL_THREADGROUP uint* scratch, uint lane) {
# 200 "Shaders/tiles.h"
  MSL_THREADGROUP float* sums = (MSL_THREADGROUP float*)(scratch);
  simdgroup_store(total, sums, 8);
  simdgroup_store(part, sums + 64, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sums[lane] = sums[lane] + sums[64 + lane];
  sums[32 + lane] = sums[32 + lane] + sums[96 + lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(total, (MSL_THREADGROUP const float*)(sums), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);

  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}

METAL_FUNC void store_words(MSL_THREAD const uint (&words)[kChunkTiles], MSL_THREADGROUP uint* to) {
  *(MSL_THREADGROUP uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(MSL_THREADGROUP uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}

METAL_FUNC void load_words(MSL_THREADGROUP const uint* from, MSL_THREAD uint (&words)[kChunkTiles]) {
  set_words(*(MSL_THREADGROUP const uint4*)(from), *(MSL_THREADGROUP const uint4*)(from + 4), words);
}
