// half_tile.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 5 "Shaders/half_tile.h"
#include "device/gpu/generated/stored.h"
# 9 "Shaders/half_tile.h"
MSL_CONSTANT constexpr uint kStagedWords = kChunk / 4;
MSL_CONSTANT constexpr uint kFactorWords = 4 * 64;
MSL_CONSTANT constexpr uint kHalfTiles = kChunkTiles / 2;


template <typename T, uint BITS>
METAL_FUNC void load_x_half(MSL_DEVICE const T* x, uint h, MSL_THREAD uint (&words)[kHalfTiles]) {
  if (BITS > 200) {
    const uint2 a = *(MSL_DEVICE const uint2*)(x + 32 * h);
    const uint2 b = *(MSL_DEVICE const uint2*)(x + 32 * h + 16);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = b.x;
    words[3] = b.y;
  } else {
    const uint4 a = *(MSL_DEVICE const uint4*)(x + (BITS > 100 ? 32 : 8) * h);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = a.z;
    words[3] = a.w;
  }
}
# 34 "Shaders/half_tile.h"
METAL_FUNC void load_half(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, uint h, MSL_THREAD Share<16>& to) {
  const uint4 a = *(MSL_DEVICE const uint4*)(w + at / 2 + 4 * h);
  if (h == 0) {
    to.a = a;
  } else {
    to.b = a;
  }
}

template <uint BITS>
METAL_FUNC void load_half(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                          ulong at, uint h, MSL_THREAD Share<BITS>& to) {
  for (uint first = h; MSL_LOOP(first == 0); ++first) {
    load_share(w, steps, scales, at, 0, to);
  }
}


METAL_FUNC void half_words(MSL_THREAD const Share<16>& share, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                           MSL_THREAD uint (&words)[kHalfTiles]) {
  const uint4 a = h == 0 ? share.a : share.b;
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
}

METAL_FUNC void half_words(MSL_THREAD const Share<8>& share, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                           MSL_THREAD uint (&words)[kHalfTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(h == 0 ? share.a.x : share.a.z, unit);
  const uint2 b = words_of_bytes(h == 0 ? share.a.y : share.a.w, unit);
  words[0] = a.x;
  words[1] = a.y;
  words[2] = b.x;
  words[3] = b.y;
}

METAL_FUNC void half_words(MSL_THREAD const Share<4>& share, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                           MSL_THREAD uint (&words)[kHalfTiles]) {
  const NibbleTerms terms = nibble_terms(share.steps);
  const uint nibbles = h == 0 ? share.a.x : share.a.y;
  words[0] = pair_of_nibbles(nibbles << 3, terms);

  for (uint j = 1; j < kHalfTiles; ++j) {
    words[j] = pair_of_nibbles(nibbles >> (4 * j - 3), terms);
  }
}

METAL_FUNC void half_words(MSL_THREAD const Share<kStored4>& share, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                           MSL_THREAD uint (&words)[kHalfTiles]) {
  const float shift = -16.0f - float(scales.zero);
  const uint shifts = pack_exact(shift, shift);
  const uint nibbles = h == 0 ? share.a.x : share.a.y;
  words[0] = pair_of_codes(nibbles << 3, shifts);

  for (uint j = 1; j < kHalfTiles; ++j) {
    words[j] = pair_of_codes(nibbles >> (4 * j - 3), shifts);
  }
}

METAL_FUNC void half_of_bytes(uint4 bytes, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                              MSL_THREAD uint (&words)[kHalfTiles]) {
  const bool is_float = (scales.kind & kFloatCodes) != 0;
  const float zero = float(scales.zero);
  const uint2 a = stored_words(h == 0 ? bytes.x : bytes.z, is_float, zero);
  const uint2 b = stored_words(h == 0 ? bytes.y : bytes.w, is_float, zero);
  words[0] = a.x;
  words[1] = a.y;
  words[2] = b.x;
  words[3] = b.y;
}

METAL_FUNC void half_words(MSL_THREAD const Share<kStored8>& share, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                           MSL_THREAD uint (&words)[kHalfTiles]) {
  half_of_bytes(share.a, scales, h, words);
}

METAL_FUNC void half_words(MSL_THREAD const Share<kFine8>& share, MSL_CONSTANT pagoda_args::Scales& scales, uint h,
                           MSL_THREAD uint (&words)[kHalfTiles]) {
  half_of_bytes(share.a, scales, h, words);
}


METAL_FUNC void store_half_share(MSL_THREAD const uint (&words)[kHalfTiles], MSL_THREADGROUP uint* rows, uint row,
                                 uint quarter) {
  MSL_THREADGROUP uint* to = rows + row / 8 * (8 * kStagedWords) + row % 8 * 4 + quarter;

  for (uint j = 0; j < kHalfTiles; ++j) {
    to[32 * j] = words[j];
  }
}


template <typename T, bool TRANSPOSED>
METAL_FUNC void load_tile(MSL_THREAD simdgroup_matrix<T, 8, 8>& tile, MSL_THREADGROUP const uint* rows, uint row, uint j) {
  simdgroup_load(tile, (MSL_THREADGROUP const T*)(rows + row * kStagedWords + 32 * j), 8, ulong2(0, 0), TRANSPOSED);
}


METAL_FUNC void make_factors(MSL_THREAD SumTile& factors, float factor, MSL_THREADGROUP float* scratch, uint lane) {
  const uint column = lane % 4 * 2;
  scratch[2 * lane] = column == lane / 4 ? factor : 0.0f;
  scratch[2 * lane + 1] = column + 1 == lane / 4 ? factor : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(factors, (MSL_THREADGROUP const float*)(scratch), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}


template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_half(Stored<false> kind, MSL_THREAD SumTile (&acc)[WT][MT], MSL_THREADGROUP const uint* w_rows,
                              MSL_THREADGROUP const uint* x_rows, uint half_index, MSL_THREADGROUP const float* terms,
                              bool has_mins, MSL_THREADGROUP float* scratch, uint lane) {

  for (uint j = 0; j < kHalfTiles; ++j) {
    simdgroup_matrix<T, 8, 8> right[MT];

    for (uint t = 0; t < MT; ++t) {
      load_tile<T, true>(right[t], x_rows, 8 * t, j);
    }

    for (uint i = 0; i < WT; ++i) {
      simdgroup_matrix<T, 8, 8> left;
      load_tile<T, false>(left, w_rows, 8 * i, j);

      for (uint t = 0; t < MT; ++t) {
        simdgroup_multiply_accumulate(acc[i][t], left, right[t], acc[i][t]);
      }
    }
  }
}


template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_half(Stored<true> kind, MSL_THREAD SumTile (&acc)[WT][MT], MSL_THREADGROUP const uint* w_rows,
                              MSL_THREADGROUP const uint* x_rows, uint half_index, MSL_THREADGROUP const float* terms,
                              bool has_mins, MSL_THREADGROUP float* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  constexpr uint TILES = kChunkTiles / GROUPS;
  const simdgroup_matrix<T, 8, 8> ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));

  for (uint group = 0; group < GROUPS / 2; ++group) {

    for (uint i = 0; i < WT; i += 2) {
      simdgroup_matrix<T, 8, 8> left[2][TILES];
      SumTile factors[2];
      SumTile mins[2];

      for (uint n = 0; n < 2; ++n) {
        MSL_THREADGROUP const float* of_row =
            terms + (8 * (i + n) + lane / 4) * 2 * GROUPS + half_index * (GROUPS / 2) + group;
        make_factors(factors[n], of_row[0], scratch, lane);
        make_factors(mins[n], of_row[GROUPS], scratch, lane);

        for (uint j = 0; j < TILES; ++j) {
          load_tile<T, false>(left[n][j], w_rows, 8 * (i + n), group * TILES + j);
        }
      }

      for (uint t = 0; t < MT; ++t) {
        SumTile x_sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        SumTile part[2];

        for (uint n = 0; n < 2; ++n) {
          part[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }

        for (uint j = 0; j < TILES; ++j) {
          simdgroup_matrix<T, 8, 8> right;
          load_tile<T, true>(right, x_rows, 8 * t, group * TILES + j);

          for (uint n = 0; n < 2; ++n) {
            simdgroup_multiply_accumulate(part[n], left[n][j], right, part[n]);
          }

          if (has_mins) {
            simdgroup_multiply_accumulate(x_sum, ones, right, x_sum);
          }
        }

        for (uint n = 0; n < 2; ++n) {
          simdgroup_multiply_accumulate(acc[i + n][t], factors[n], part[n], acc[i + n][t]);

          if (has_mins) {
            simdgroup_multiply_accumulate(acc[i + n][t], mins[n], x_sum, acc[i + n][t]);
          }
        }
      }
    }
  }
}


template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_tile(MSL_THREAD SumTile (&total)[WT][MT], MSL_DEVICE const T* x, MSL_DEVICE const uint* w,
                              MSL_DEVICE const ushort* w_steps, MSL_THREAD const ulong (&x_at)[MT / 2],
                              MSL_THREAD const ulong (&w_at)[WT / 2], MSL_THREAD Share<BITS> (&w_next)[WT / 2],
                              MSL_CONSTANT pagoda_args::Scales& scales, uint padded_cols, uint run,
                              MSL_THREADGROUP uint* shared_words, uint tid, uint sg, uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  constexpr uint TERMS = BITS > 200 ? 8 : 4;
  MSL_THREADGROUP uint* x_tile = shared_words + 16 * WT * kStagedWords;
  MSL_THREADGROUP float* scratch = (MSL_THREADGROUP float*)(x_tile + 16 * MT * kStagedWords + sg * (kFactorWords / 4));
  MSL_THREADGROUP float* terms = (MSL_THREADGROUP float*)(x_tile + 16 * MT * kStagedWords + kFactorWords);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
  SumTile acc[WT][MT];

  for (uint i = 0; i < WT; ++i) {

    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint x_next[X_SHARES][kHalfTiles];

  for (uint i = 0; i < X_SHARES; ++i) {
    load_x_half<T, BITS>(x + x_at[i], 0, x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; MSL_LOOP(k0 < padded_cols); k0 += kChunk) {

    for (uint h = 0; h < 2; ++h) {

      for (uint i = 0; i < W_SHARES; ++i) {
        uint words[kHalfTiles];
        half_words(w_next[i], scales, h, words);
        store_half_share(words, shared_words, staged_row(tid, i), tid % 4);
        for (uint first = h; MSL_LOOP(first == 0); ++first) {
          stage_terms(Stored<(BITS > 100)>(), w_next[i], scales, terms, staged_row(tid, i), tid % 4);
        }
      }

      for (uint i = 0; i < X_SHARES; ++i) {
        store_half_share(x_next[i], x_tile, tid / 4 + 32 * i, tid % 4);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint next = k0 + h * kChunk;
      if (next < padded_cols) {

        for (uint i = 0; i < W_SHARES; ++i) {
          load_half(w, w_steps, scales, w_at[i] + next, 1 - h, w_next[i]);
        }

        for (uint i = 0; i < X_SHARES; ++i) {
          load_x_half<T, BITS>(x + x_at[i] + next, 1 - h, x_next[i]);
        }
      }
      multiply_half<T, BITS, WT, MT>(
          Stored<(BITS > 100)>(), acc, (MSL_THREADGROUP const uint*)(shared_words + sg_n * kStagedWords),
          (MSL_THREADGROUP const uint*)(x_tile + sg_m * kStagedWords), h, (MSL_THREADGROUP const float*)(terms + sg_n * TERMS),
          (scales.kind & kHasMins) != 0, scratch, lane);
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;

      for (uint i = 0; i < WT; ++i) {

        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], shared_words + 128 * sg, lane);
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
}
