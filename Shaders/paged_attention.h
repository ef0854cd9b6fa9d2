// paged_attention: attention of flattened rows over the paged cache, varlen, with prompts and single tokens in one
// launch; causal, or with all positions of the sequence for every row.
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
constant bool use_all_keys [[function_constant(3)]];  // not causal: every row sees what the last one sees

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

// A key's weight as the product over the values takes it, and its part of the sum of weights.
template <typename T>
struct KeyWeight {
  T of_codes;
  float share;
};

// Both with the rounding to T. score: relative to the largest. scales: of int8 values, which multiply the weights
template <typename T, bool IS_INT8>
METAL_FUNC KeyWeight<T> weight_of(bool is_seen, float score, threadgroup const float* scales, uint at) {
  const float weight = is_seen ? precise::exp(score) : 0.0f;
  KeyWeight<T> result;
  result.of_codes = T(weight);
  result.share = float(result.of_codes);
  if (IS_INT8 && is_seen) {
    const float scale = scales[at];
    result.of_codes = T(weight * scale);
    result.share = scale > 0.0f ? float(result.of_codes) / scale : weight;
  }
  return result;
}
