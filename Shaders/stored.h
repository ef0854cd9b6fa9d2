// Stored formats: matrices with the codes and scales of their file (base/quant/quant_format.h), of which nothing is
// rounded again. w = a (code - zero) + b, with a and b for each group of columns of a row.
//
// A product is the sum over groups of a S + b X, where S is the sum of (code - zero) x, and X that of x: both by matrix
// products, in which codes are exact bfloats. So a tile must not mix groups: a lane's share of a chunk is a quarter of
// each group, words 0 to 3 of the first 32 columns and 4 to 7 of the others, or two words of each 16 columns (kFine8).
// The scales of groups are applied in the order of columns, the same for any number of rows.
//
// Weights: a lane's 16 codes are adjacent, in the order of its columns. 8 bits: one byte each; 8-bit floats in the
// order 0, 2, 1, 3. 4 bits: the order within eight is that of matmul.h. Codes of other widths have the next larger one,
// and those of a table its values. Scales are in records, by 64 columns or as many as share an upper scale:
//   one level:  (a, a) and with minima (b, b) of 32 columns each; or (a, b) of 64 or 128 columns, with floats a word
//               each; or four 8-bit floats of 16 columns each
//   two levels: the upper scale and minimum; then for every 64 columns a byte for each a, and with minima for each b
#pragma once

#include "codes.h"
#include "matmul.h"

// Formats. kStored4 and kStored8 have groups of 32 columns or more, kFine8 groups of 16, with two levels or 8-bit
// floats.
constant constexpr uint kStored4 = 104;
constant constexpr uint kStored8 = 108;
constant constexpr uint kFine8 = 208;

// Scales::kind
constant constexpr uint kHasMins = 1;
constant constexpr uint kTwoLevels = 2;
constant constexpr uint kBfloats = 4;      // of one level; otherwise halfs
constant constexpr uint kWideGroups = 8;   // of one level: (a, b) of a whole chunk
constant constexpr uint kSigned = 16;      // of two levels: the lower scales
constant constexpr uint kFloats = 32;      // of one level and wide groups
constant constexpr uint kFloatCodes = 64;  // codes of 8 bits are floats (E4M3)

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

METAL_FUNC device const uint* record_of(device const ushort* steps, constant pagoda_args::Scales& scales, ulong at) {
  return (device const uint*)(steps) + uint(at >> scales.log_unit) * scales.words;
}

// The second word of a chunk in its record.
METAL_FUNC uint second_of(constant pagoda_args::Scales& scales, ulong at) {
  return scales.next + (uint(at) & ((1u << scales.log_unit) - 1)) / kChunk * scales.step;
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong row, uint columns, thread Share<kStored4>& to) {
  const ulong at = row + columns;
  device const uint* record = record_of(steps, scales, at);
  to.a = *(device const uint2*)(w + (uint(row / 8) + columns / 8));
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong row, uint columns, thread Share<kStored8>& to) {
  const ulong at = row + columns;
  device const uint* record = record_of(steps, scales, at);
  to.a = *(device const uint4*)(w + (uint(row / 4) + columns / 4));
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}

METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong row, uint columns, thread Share<kFine8>& to) {
  const ulong at = row + columns;
  device const uint* record = record_of(steps, scales, at);
  const uint second = second_of(scales, at);
  to.a = *(device const uint4*)(w + (uint(row / 4) + columns / 4));
  to.first = record[0];
  to.second = record[second];
  to.third = record[second + scales.step / 2];  // without minima, the same again
}

// Two nibbles, bits 3 to 6 and 19 to 22 of `nibbles`: each becomes the bfloat 16 + nibble, plus `shift`.
METAL_FUNC uint pair_of_codes(uint nibbles, uint shift) {
  return fma_bfloats(0x3f803f80u, shift, and_or(nibbles, 0x00780078u, 0x41804180u));
}

METAL_FUNC void share_words(thread const Share<kStored4>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const float shift = -16.0f - float(scales.zero);
  const uint shifts = pack_exact(shift, shift);
  words[0] = pair_of_codes(share.a.x << 3, shifts);
  words[4] = pair_of_codes(share.a.y << 3, shifts);
#pragma unroll
  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_codes(share.a.x >> (4 * j - 3), shifts);
    words[4 + j] = pair_of_codes(share.a.y >> (4 * j - 3), shifts);
  }
}

METAL_FUNC float half_in(uint bits) { return float(as_type<half>(ushort(bits & 0xffffu))); }

// An 8-bit float (E4M3) has the bits of a half 2^8 times smaller.
METAL_FUNC float float8_in(uint byte) { return 256.0f * half_in((byte & 127u) << 7 | (byte & 128u) << 8); }

// Two of them, bits 0 to 7 and 16 to 23 of `bytes`: those of a bfloat 2^120 times smaller, whose denormals not every
// machine multiplies.
METAL_FUNC uint pair_of_floats(uint bytes) {
#ifdef __MSL_PAIRED_MMA__
  return fma_bfloats((bytes & 0x007f007fu) << 4 | (bytes & 0x00800080u) << 8, 0x7b807b80u, 0x80008000u);
#else
  return pack_exact(float8_in(bytes & 255u), float8_in(bytes >> 16 & 255u));
#endif
}

// Four codes as bfloats.
METAL_FUNC uint2 stored_words(uint word, bool is_float, float zero) {
  return is_float ? uint2(pair_of_floats(word), pair_of_floats(word >> 8)) : words_of_codes(word, 8388608.0f + zero);
}

METAL_FUNC float stored_number(uint code, constant pagoda_args::Scales& scales) {
  return (scales.kind & kFloatCodes) != 0 ? float8_in(code) : float(code) - float(scales.zero);
}

METAL_FUNC void share_words(thread const Share<kStored8>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const bool is_float = (scales.kind & kFloatCodes) != 0;
  const float zero = float(scales.zero);
  const uint2 a = stored_words(share.a.x, is_float, zero);
  const uint2 b = stored_words(share.a.y, is_float, zero);
  const uint2 c = stored_words(share.a.z, is_float, zero);
  const uint2 d = stored_words(share.a.w, is_float, zero);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}

METAL_FUNC void share_words(thread const Share<kFine8>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  bytes_to_words(share.a, scales.zero, words);
}

METAL_FUNC float scale_in(uint bits, uint kind) {
  return (kind & kBfloats) != 0 ? as_type<float>(bits << 16) : half_in(bits);
}

METAL_FUNC float lower_scale(uint byte, uint kind) {
  return (kind & kSigned) != 0 ? byte_minus(byte ^ 128u, 8388736.0f) : byte_minus(byte, 8388608.0f);
}

// a of every group of a chunk, then b. first, second: words of the chunk's record
METAL_FUNC void group_terms(uint first, uint second, uint kind, thread float (&terms)[4]) {
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

METAL_FUNC void share_terms(thread const Share<kStored4>& share, constant pagoda_args::Scales& scales,
                            thread float (&terms)[4]) {
  group_terms(share.first, share.second, scales.kind, terms);
}

METAL_FUNC void share_terms(thread const Share<kStored8>& share, constant pagoda_args::Scales& scales,
                            thread float (&terms)[4]) {
  group_terms(share.first, share.second, scales.kind, terms);
}

METAL_FUNC void share_terms(thread const Share<kFine8>& share, constant pagoda_args::Scales& scales,
                            thread float (&terms)[8]) {
  if ((scales.kind & kTwoLevels) == 0) {
#pragma unroll
    for (uint g = 0; g < 4; ++g) {
      terms[g] = 0.5f * float8_in(share.first >> (8 * g) & 255u);  // the codes are doubled
      terms[4 + g] = 0.0f;
    }
    return;
  }
  const float scale = half_in(share.first);
  const float min = half_in(share.first >> 16);
#pragma unroll
  for (uint g = 0; g < 4; ++g) {
    terms[g] = scale * lower_scale(share.second >> (8 * g) & 255u, scales.kind);
    terms[4 + g] = -(min * lower_scale(share.third >> (8 * g) & 255u, scales.kind));
  }
}

// sum += the rows of `part`, each times its factor, that of row lane / 4. scratch: 64 words, private to the simdgroup
METAL_FUNC void add_scaled(thread SumTile& sum, thread const SumTile& part, float factor, threadgroup uint* scratch,
                           uint lane) {
#ifdef __MSL_PAIRED_MMA__
  msl_add_scaled(sum, part, factor);
#else
  threadgroup float* diagonal = (threadgroup float*)(scratch);
  const uint row = lane / 4;
  const uint column = lane % 4 * 2;
  diagonal[2 * lane] = column == row ? factor : 0.0f;
  diagonal[2 * lane + 1] = column + 1 == row ? factor : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  SumTile factors;
  simdgroup_load(factors, (threadgroup const float*)(diagonal), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_multiply_accumulate(sum, factors, part, sum);
#endif
}

// acc[first + i][t] += (rows i of w) (rows t of x)^T over one chunk, group by group. terms: of the lane's row in each
// tile of w, as group_terms(); scratch: half of kTileScratch words, private to the simdgroup
template <typename T, uint GROUPS, uint N, uint R, uint M>
METAL_FUNC void add_groups(thread SumTile (&acc)[R][M], uint first, thread const uint (&w)[N][kChunkTiles],
                           thread const float (&terms)[N][2 * GROUPS], thread const uint (&x)[M][kChunkTiles],
                           bool has_mins, threadgroup uint* scratch, uint lane) {
  constexpr uint TILES = kChunkTiles / GROUPS;  // of a group
  simdgroup_matrix<T, 8, 8> left[N][kChunkTiles];
  const simdgroup_matrix<T, 8, 8> ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
#pragma unroll
  for (uint i = 0; i < N; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch, lane);
#pragma unroll
    for (uint g = 0; g < GROUPS; ++g) {
      SumTile part[N];
      SumTile x_sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll
      for (uint i = 0; i < N; ++i) {
        part[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
#ifdef __MSL_PAIRED_MMA__
#pragma unroll
      for (uint j = g * TILES; j < (g + 1) * TILES; j += 2) {
#pragma unroll
        for (uint i = 0; i < N; i += 2) {
          msl_multiply_accumulate_pairs(part[i], part[min(i + 1, N - 1)], left[i][j], left[min(i + 1, N - 1)][j],
                                        left[i][j + 1], left[min(i + 1, N - 1)][j + 1], right[j], right[j + 1],
                                        i + 1 < N);
        }
        // Only saves work: without minima the sum is not used.
        if (has_mins) {
          msl_multiply_accumulate_pairs(x_sum, x_sum, ones, ones, ones, ones, right[j], right[j + 1], false);
        }
      }
#else
#pragma unroll
      for (uint j = g * TILES; j < (g + 1) * TILES; ++j) {
#pragma unroll
        for (uint i = 0; i < N; ++i) {
          simdgroup_multiply_accumulate(part[i], left[i][j], right[j], part[i]);
        }
        // Only saves work: without minima the sum is not used.
        if (has_mins) {
          simdgroup_multiply_accumulate(x_sum, ones, right[j], x_sum);
        }
      }
#endif
#pragma unroll
      for (uint i = 0; i < N; ++i) {
        add_scaled(acc[first + i][t], part[i], terms[i][g], scratch, lane);
        // Only saves work: without minima the sum is zero.
        if (has_mins) {
          add_scaled(acc[first + i][t], x_sum, terms[i][GROUPS + g], scratch, lane);
        }
      }
    }
  }
}

// acc[i][t] += (rows i of the shares) (rows t of x)^T over one chunk.
template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_shares(Stored<false> kind, thread SumTile (&acc)[R][M], thread const Share<BITS> (&share)[R],
                                thread const uint (&x)[M][kChunkTiles], constant pagoda_args::Scales& scales,
                                threadgroup uint* scratch, uint lane) {
  uint words[R][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    share_words(share[i], scales, words[i]);
  }
  chunk_multiply<T, R, M>(acc, words, x, scratch, lane);
}

template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_shares(Stored<true> kind, thread SumTile (&acc)[R][M], thread const Share<BITS> (&share)[R],
                                thread const uint (&x)[M][kChunkTiles], constant pagoda_args::Scales& scales,
                                threadgroup uint* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  uint words[R][kChunkTiles];
  float terms[R][2 * GROUPS];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    share_words(share[i], scales, words[i]);
    share_terms(share[i], scales, terms[i]);
  }
  add_groups<T, GROUPS, R, R, M>(acc, 0, words, terms, x, (scales.kind & kHasMins) != 0, scratch, lane);
}

// The terms of a staged row of weights, where the lanes that multiply it find them. Four threads have the same row.
template <uint BITS>
METAL_FUNC void stage_terms(Stored<false> kind, thread const Share<BITS>& share, constant pagoda_args::Scales& scales,
                            threadgroup float* to, uint row, uint quarter) {}

template <uint BITS>
METAL_FUNC void stage_terms(Stored<true> kind, thread const Share<BITS>& share, constant pagoda_args::Scales& scales,
                            threadgroup float* to, uint row, uint quarter) {
  constexpr uint TERMS = BITS > 200 ? 8 : 4;
  float terms[TERMS];
  share_terms(share, scales, terms);
#pragma unroll
  for (uint i = 0; i < TERMS; ++i) {
    if (i % 4 == quarter) {
      to[row * TERMS + i] = terms[i];
    }
  }
}

// The row of a tile of weights that share i of a thread comes from. Shares 2 p and 2 p + 1 are 8 rows apart, in the
// upper and lower half of 16 rows.
METAL_FUNC uint staged_row(uint tid, uint i) { return 64 * (i / 2) + 16 * (tid / 32) + 8 * (i % 2) + tid % 32 / 4; }
