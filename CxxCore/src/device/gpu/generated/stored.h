// stored.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 17 "Shaders/stored.h"
#include "device/gpu/generated/codes.h"
#include "device/gpu/generated/matmul.h"
# 22 "Shaders/stored.h"
MSL_CONSTANT constexpr uint kStored4 = 104;
MSL_CONSTANT constexpr uint kStored8 = 108;
MSL_CONSTANT constexpr uint kFine8 = 208;


MSL_CONSTANT constexpr uint kHasMins = 1;
MSL_CONSTANT constexpr uint kTwoLevels = 2;
MSL_CONSTANT constexpr uint kBfloats = 4;
MSL_CONSTANT constexpr uint kWideGroups = 8;
MSL_CONSTANT constexpr uint kSigned = 16;
MSL_CONSTANT constexpr uint kFloats = 32;
MSL_CONSTANT constexpr uint kFloatCodes = 64;

template <bool IS_STORED>
struct Stored {};

template <>
struct Share<kStored4> {
  uint2 a;
  uint first;
  uint second;
};
template <>
struct Share<kStored8> {
  uint4 a;
  uint first;
  uint second;
};
template <>
struct Share<kFine8> {
  uint4 a;
  uint first;
  uint second;
  uint third;
};

METAL_FUNC MSL_DEVICE const uint* record_of(MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales, ulong at) {
  return (MSL_DEVICE const uint*)(steps) + uint(at >> scales.log_unit) * scales.words;
}


METAL_FUNC uint second_of(MSL_CONSTANT pagoda_args::Scales& scales, ulong at) {
  return scales.next + (uint(at) & ((1u << scales.log_unit) - 1)) / kChunk * scales.step;
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                           ulong row, uint columns, MSL_THREAD Share<kStored4>& to) {
  const ulong at = row + columns;
  MSL_DEVICE const uint* record = record_of(steps, scales, at);
  to.a = *(MSL_DEVICE const uint2*)(w + (uint(row / 8) + columns / 8));
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                           ulong row, uint columns, MSL_THREAD Share<kStored8>& to) {
  const ulong at = row + columns;
  MSL_DEVICE const uint* record = record_of(steps, scales, at);
  to.a = *(MSL_DEVICE const uint4*)(w + (uint(row / 4) + columns / 4));
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_share(MSL_DEVICE const uint* w, MSL_DEVICE const ushort* steps, MSL_CONSTANT pagoda_args::Scales& scales,
                           ulong row, uint columns, MSL_THREAD Share<kFine8>& to) {
  const ulong at = row + columns;
  MSL_DEVICE const uint* record = record_of(steps, scales, at);
  const uint second = second_of(scales, at);
  to.a = *(MSL_DEVICE const uint4*)(w + (uint(row / 4) + columns / 4));
  to.first = record[0];
  to.second = record[second];
  to.third = record[second + scales.step / 2];
}


METAL_FUNC uint pair_of_codes(uint nibbles, uint shift) {
  return fma_bfloats(0x3f803f80u, shift, and_or(nibbles, 0x00780078u, 0x41804180u));
}

METAL_FUNC void share_words(MSL_THREAD const Share<kStored4>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD uint (&words)[kChunkTiles]) {
  const float shift = -16.0f - float(scales.zero);
  const uint shifts = pack_exact(shift, shift);
  words[0] = pair_of_codes(share.a.x << 3, shifts);
  words[4] = pair_of_codes(share.a.y << 3, shifts);

  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_codes(share.a.x >> (4 * j - 3), shifts);
    words[4 + j] = pair_of_codes(share.a.y >> (4 * j - 3), shifts);
  }
}

METAL_FUNC float half_in(uint bits) { return float(as_type<half>(ushort(bits & 0xffffu))); }


METAL_FUNC float float8_in(uint byte) { return 256.0f * half_in((byte & 127u) << 7 | (byte & 128u) << 8); }
# 121 "Shaders/stored.h"
METAL_FUNC uint pair_of_floats(uint bytes) {
# 125 "Shaders/stored.h"
  return pack_exact(float8_in(bytes & 255u), float8_in(bytes >> 16 & 255u));

}


METAL_FUNC uint2 stored_words(uint word, bool is_float, float zero) {
  return is_float ? uint2(pair_of_floats(word), pair_of_floats(word >> 8)) : words_of_codes(word, 8388608.0f + zero);
}

METAL_FUNC float stored_number(uint code, MSL_CONSTANT pagoda_args::Scales& scales) {
  return (scales.kind & kFloatCodes) != 0 ? float8_in(code) : float(code) - float(scales.zero);
}

METAL_FUNC void share_words(MSL_THREAD const Share<kStored8>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD uint (&words)[kChunkTiles]) {
  const bool is_float = (scales.kind & kFloatCodes) != 0;
  const float zero = float(scales.zero);
  const uint2 a = stored_words(share.a.x, is_float, zero);
  const uint2 b = stored_words(share.a.y, is_float, zero);
  const uint2 c = stored_words(share.a.z, is_float, zero);
  const uint2 d = stored_words(share.a.w, is_float, zero);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}

METAL_FUNC void share_words(MSL_THREAD const Share<kFine8>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD uint (&words)[kChunkTiles]) {
  bytes_to_words(share.a, scales.zero, words);
}

METAL_FUNC float scale_in(uint bits, uint kind) {
  return (kind & kBfloats) != 0 ? as_type<float>(bits << 16) : half_in(bits);
}

METAL_FUNC float lower_scale(uint byte, uint kind) {
  return (kind & kSigned) != 0 ? byte_minus(byte ^ 128u, 8388736.0f) : byte_minus(byte, 8388608.0f);
}


METAL_FUNC void group_terms(uint first, uint second, uint kind, MSL_THREAD float (&terms)[4]) {
  if ((kind & kTwoLevels) != 0) {
    const float scale = half_in(first);
    const float min = half_in(first >> 16);
    terms[0] = scale * lower_scale(second & 255u, kind);
    terms[1] = scale * lower_scale(second >> 8 & 255u, kind);
    terms[2] = -(min * lower_scale(second >> 16 & 255u, kind));
    terms[3] = -(min * lower_scale(second >> 24, kind));
    return;
  }
  if ((kind & kFloats) != 0) {
    terms[0] = as_type<float>(first);
    terms[1] = terms[0];
    terms[2] = as_type<float>(second);
    terms[3] = terms[2];
    return;
  }
  const bool is_wide = (kind & kWideGroups) != 0;
  terms[0] = scale_in(first & 0xffffu, kind);
  terms[1] = is_wide ? terms[0] : scale_in(first >> 16, kind);
  terms[2] = is_wide ? scale_in(first >> 16, kind) : scale_in(second & 0xffffu, kind);
  terms[3] = is_wide ? terms[2] : scale_in(second >> 16, kind);
}

METAL_FUNC void share_terms(MSL_THREAD const Share<kStored4>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD float (&terms)[4]) {
  group_terms(share.first, share.second, scales.kind, terms);
}

METAL_FUNC void share_terms(MSL_THREAD const Share<kStored8>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD float (&terms)[4]) {
  group_terms(share.first, share.second, scales.kind, terms);
}

METAL_FUNC void share_terms(MSL_THREAD const Share<kFine8>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREAD float (&terms)[8]) {
  if ((scales.kind & kTwoLevels) == 0) {

    for (uint g = 0; g < 4; ++g) {
      terms[g] = 0.5f * float8_in(share.first >> (8 * g) & 255u);
      terms[4 + g] = 0.0f;
    }
    return;
  }
  const float scale = half_in(share.first);
  const float min = half_in(share.first >> 16);

  for (uint g = 0; g < 4; ++g) {
    terms[g] = scale * lower_scale(share.second >> (8 * g) & 255u, scales.kind);
    terms[4 + g] = -(min * lower_scale(share.third >> (8 * g) & 255u, scales.kind));
  }
}


METAL_FUNC void add_scaled(MSL_THREAD SumTile& sum, MSL_THREAD const SumTile& part, float factor, MSL_THREADGROUP uint* scratch,
                           uint lane) {
# 222 "Shaders/stored.h"
  MSL_THREADGROUP float* diagonal = (MSL_THREADGROUP float*)(scratch);
  const uint row = lane / 4;
  const uint column = lane % 4 * 2;
  diagonal[2 * lane] = column == row ? factor : 0.0f;
  diagonal[2 * lane + 1] = column + 1 == row ? factor : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  SumTile factors;
  simdgroup_load(factors, (MSL_THREADGROUP const float*)(diagonal), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_multiply_accumulate(sum, factors, part, sum);

}
# 237 "Shaders/stored.h"
template <typename T, uint GROUPS, uint N, uint R, uint M>
METAL_FUNC void add_groups(MSL_THREAD SumTile (&acc)[R][M], uint first, MSL_THREAD const uint (&w)[N][kChunkTiles],
                           MSL_THREAD const float (&terms)[N][2 * GROUPS], MSL_THREAD const uint (&x)[M][kChunkTiles],
                           bool has_mins, MSL_THREADGROUP uint* scratch, uint lane) {
  constexpr uint TILES = kChunkTiles / GROUPS;
  simdgroup_matrix<T, 8, 8> left[N][kChunkTiles];
  const simdgroup_matrix<T, 8, 8> ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));

  for (uint i = 0; i < N; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }

  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch, lane);

    for (uint g = 0; g < GROUPS; ++g) {
      SumTile part[N];
      SumTile x_sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

      for (uint i = 0; i < N; ++i) {
        part[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
# 276 "Shaders/stored.h"
      for (uint j = g * TILES; j < (g + 1) * TILES; ++j) {

        for (uint i = 0; i < N; ++i) {
          simdgroup_multiply_accumulate(part[i], left[i][j], right[j], part[i]);
        }

        if (has_mins) {
          simdgroup_multiply_accumulate(x_sum, ones, right[j], x_sum);
        }
      }


      for (uint i = 0; i < N; ++i) {
        add_scaled(acc[first + i][t], part[i], terms[i][g], scratch, lane);

        if (has_mins) {
          add_scaled(acc[first + i][t], x_sum, terms[i][GROUPS + g], scratch, lane);
        }
      }
    }
  }
}


template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_shares(Stored<false> kind, MSL_THREAD SumTile (&acc)[R][M], MSL_THREAD const Share<BITS> (&share)[R],
                                MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_CONSTANT pagoda_args::Scales& scales,
                                MSL_THREADGROUP uint* scratch, uint lane) {
  uint words[R][kChunkTiles];

  for (uint i = 0; i < R; ++i) {
    share_words(share[i], scales, words[i]);
  }
  chunk_multiply<T, R, M>(acc, words, x, scratch, lane);
}

template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_shares(Stored<true> kind, MSL_THREAD SumTile (&acc)[R][M], MSL_THREAD const Share<BITS> (&share)[R],
                                MSL_THREAD const uint (&x)[M][kChunkTiles], MSL_CONSTANT pagoda_args::Scales& scales,
                                MSL_THREADGROUP uint* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  uint words[R][kChunkTiles];
  float terms[R][2 * GROUPS];

  for (uint i = 0; i < R; ++i) {
    share_words(share[i], scales, words[i]);
    share_terms(share[i], scales, terms[i]);
  }
  add_groups<T, GROUPS, R, R, M>(acc, 0, words, terms, x, (scales.kind & kHasMins) != 0, scratch, lane);
}


template <uint BITS>
METAL_FUNC void stage_terms(Stored<false> kind, MSL_THREAD const Share<BITS>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREADGROUP float* to, uint row, uint quarter) {}

template <uint BITS>
METAL_FUNC void stage_terms(Stored<true> kind, MSL_THREAD const Share<BITS>& share, MSL_CONSTANT pagoda_args::Scales& scales,
                            MSL_THREADGROUP float* to, uint row, uint quarter) {
  constexpr uint TERMS = BITS > 200 ? 8 : 4;
  float terms[TERMS];
  share_terms(share, scales, terms);

  for (uint i = 0; i < TERMS; ++i) {
    if (i % 4 == quarter) {
      to[row * TERMS + i] = terms[i];
    }
  }
}
# 348 "Shaders/stored.h"
METAL_FUNC uint staged_row(uint tid, uint i) { return 64 * (i / 2) + 16 * (tid / 32) + 8 * (i % 2) + tid % 32 / 4; }
