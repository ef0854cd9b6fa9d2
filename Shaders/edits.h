// The logits that sample sees: those of the model after the row's mask and its changes of single logits.
#pragma once

#include "args/sample.h"
#include "candidates.h"

constant constexpr uint kMinusInfinityBits = 0xff800000u;
constant constexpr float kHighest = 3.402823466e38f;  // the highest finite number
constant constexpr uint kPart = kThreads * kEach;     // logits of a threadgroup

// Logits that the sampler rejects stay, because the sampler rejects a row before it changes anything.
METAL_FUNC bool is_refused(float logit) {
  const uint key = key_of(logit);
  return key < kMinusInfinityKey || key >= kInfinityKey;
}

// Each operation is a separate statement, so that each is rounded.
METAL_FUNC float edited(float logit, float bias, float repetition, float penalty) {
  float x = logit + bias;
  x = min(x, kHighest);
  x = x > 0.0f ? x / repetition : x * repetition;
  x = x - penalty;
  x = min(x, kHighest);
  x = repetition == 0.0f ? as_type<float>(kMinusInfinityBits) : x;
  return is_refused(logit) || key_of(logit) == kMinusInfinityKey ? logit : x;
}

METAL_FUNC float masked(float logit, device const uint* masks, uint mask, uint mask_words, uint id) {
  bool is_allowed = true;
  if (mask > 0) {
    is_allowed = (masks[long(mask - 1) * mask_words + id / 32] >> (id % 32) & 1u) != 0;
  }
  return is_allowed || is_refused(logit) ? logit : as_type<float>(kMinusInfinityBits);
}

// How many candidates each part of a row keeps for a draw; 0: none, because every token may be drawn, or none is.
METAL_FUNC uint wanted_of(device const pagoda_args::SampleRow* row) {
  return row[0].is_whole != 0 ? 0u : min(row[0].top_k, kMostKept);
}

// Whether a row without top-k has top-p.
METAL_FUNC bool has_nucleus(device const pagoda_args::SampleRow* row) {
  return row[0].is_whole != 0 && row[0].top_p != ~0ul;
}

// Where the parts take turns: chunk c of kThreads logits belongs to part c % parts, so that the frequent tokens, which
// have low ids, are spread over all parts. Thread `tid` gets logit `tid` of each chunk; minus infinity after the last.
// values: kPart
METAL_FUNC void load_part(device const float* from, device const pagoda_args::SampleRow* row,
                          device const pagoda_args::SampleEdit* edits, device const uint* masks,
                          constant pagoda_args::Sample& args, uint part, threadgroup float* values, uint tid,
                          thread float (&own)[kEach]) {
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint id = (i * args.parts + part) * kThreads + tid;
    own[i] = as_type<float>(kMinusInfinityBits);
    if (id < args.vocab) {
      own[i] = masked(from[id], masks, args.is_raw != 0 ? 0u : row[0].mask, args.mask_words, id);
    }
  }
  if (row[0].num_edits == 0 || args.is_raw != 0) {
    return;  // all threads
  }
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    values[i * kThreads + tid] = own[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; e < row[0].num_edits; e += kThreads) {
    device const pagoda_args::SampleEdit* edit = edits + row[0].first_edit + e;
    const uint chunk = edit[0].id / kThreads;
    if (edit[0].id < args.vocab && chunk % args.parts == part) {
      const uint at = chunk / args.parts * kThreads + edit[0].id % kThreads;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    own[i] = values[i * kThreads + tid];
  }
}
