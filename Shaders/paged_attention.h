// paged_attention: causal attention of flattened rows over the paged cache, varlen, with prompts and single tokens in
// one launch.
//
// Positions are divided into partitions of 256, at absolute positions. Within a partition a row's softmax is plain: all
// scores, their maximum, the weights (rounded to the cache's type), then one sum over the values, keys in order.
// Partitions are merged in order. So a row's bits depend only on its own prefix: not on which rows share its tile, nor
// on whether partitions ran in parallel (single tokens: each to `partials`, merged by paged_attention_reduce) or one
// after another.
//
// The rows of a tile are the (token, head) pairs of one sequence that share a KV head, token by token: keys and values
// are loaded once for all of them. Sums over d and over keys are those of 8x8 matrix products.
#pragma once

#include "args/paged_attention.h"
#include "common.h"

constant bool use_window [[function_constant(0)]];
constant bool use_softcap [[function_constant(1)]];
constant bool use_sinks [[function_constant(2)]];

constant constexpr uint kPartition = 256;  // positions; affects result bits
constant constexpr uint kMaxDim = 256;
constant constexpr uint kThreads = 128;
constant constexpr uint kSimdgroups = 4;
constant constexpr uint kQueryStride = kMaxDim + 8;  // elements per row of queries
constant constexpr uint kScores = kPartition + 4;    // floats per row of scores: rows start in different banks

// Floats per row of `stats`: maximum and sum, of a partition and of all up to it; the factors that scale both when
// merging.
constant constexpr uint kPartMax = 0;
constant constexpr uint kPartSum = 1;
constant constexpr uint kRowMax = 2;
constant constexpr uint kRowSum = 3;
constant constexpr uint kTotalFactor = 4;
constant constexpr uint kPartFactor = 5;
constant constexpr uint kStats = 6;

// The first tile of the grid that holds rows of sequence b: no two sequences share one.
METAL_FUNC uint first_tile(device const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}

METAL_FUNC uint sequence_of_tile(device const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// The first partition with any position visible from `position`.
METAL_FUNC uint first_part(int position, uint window) {
  const int begin = use_window ? max(0, position - int(window) + 1) : 0;
  return uint(begin) / kPartition;
}

METAL_FUNC bool is_visible(int key, int position, uint window) {
  return key <= position && (!use_window || key > position - int(window));
}

// Merges two partial results of a row, `total` first: values are relative to their maximum.
METAL_FUNC float merged(float total, float total_factor, float part, float part_factor) {
  return fma(total, total_factor, part * part_factor);
}

// Adds a head's sink to the sum, and updates the maximum.
METAL_FUNC float scale_to_end(float largest, float sum, float sink) {
  if (!use_sinks) {
    return 1.0f / sum;
  }
  const float end = max(sink, largest);
  const float factor = precise::exp(largest - end);
  return factor / fma(sum, factor, precise::exp(sink - end));
}
