// edits.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/edits.h"
#include "device/gpu/generated/args_sample.h"
#include "device/gpu/generated/candidates.h"

MSL_CONSTANT constexpr uint kMinusInfinityBits = 0xff800000u;
MSL_CONSTANT constexpr float kHighest = 3.402823466e38f;
MSL_CONSTANT constexpr uint kPart = kThreads * kEach;


METAL_FUNC bool is_refused(float logit) {
  const uint key = key_of(logit);
  return key < kMinusInfinityKey || key >= kInfinityKey;
}


METAL_FUNC float edited(float logit, float bias, float repetition, float penalty) {
  float x = logit + bias;
  x = min(x, kHighest);
  x = x > 0.0f ? x / repetition : x * repetition;
  x = x - penalty;
  x = min(x, kHighest);
  x = repetition == 0.0f ? as_type<float>(kMinusInfinityBits) : x;
  return is_refused(logit) || key_of(logit) == kMinusInfinityKey ? logit : x;
}

METAL_FUNC float masked(float logit, MSL_DEVICE const uint* masks, uint mask, uint mask_words, uint id) {
  bool is_allowed = true;
  if (mask > 0) {
    is_allowed = (masks[long(mask - 1) * mask_words + id / 32] >> (id % 32) & 1u) != 0;
  }
  return is_allowed || is_refused(logit) ? logit : as_type<float>(kMinusInfinityBits);
}


METAL_FUNC uint wanted_of(MSL_DEVICE const pagoda_args::SampleRow* row) {
  return row[0].is_whole != 0 ? 0u : min(row[0].top_k, kMostKept);
}


METAL_FUNC bool has_nucleus(MSL_DEVICE const pagoda_args::SampleRow* row) {
  return row[0].is_whole != 0 && row[0].top_p != ~0ul;
}
# 49 "Shaders/edits.h"
METAL_FUNC void load_part(MSL_DEVICE const float* from, MSL_DEVICE const pagoda_args::SampleRow* row,
                          MSL_DEVICE const pagoda_args::SampleEdit* edits, MSL_DEVICE const uint* masks,
                          MSL_CONSTANT pagoda_args::Sample& args, uint part, MSL_THREADGROUP float* values, uint tid,
                          MSL_THREAD float (&own)[kEach]) {

  for (uint i = 0; i < kEach; ++i) {
    const uint id = (i * args.parts + part) * kThreads + tid;
    own[i] = as_type<float>(kMinusInfinityBits);
    if (id < args.vocab) {
      own[i] = masked(from[id], masks, args.is_raw != 0 ? 0u : row[0].mask, args.mask_words, id);
    }
  }
  if (row[0].num_edits == 0 || args.is_raw != 0) {
    return;
  }

  for (uint i = 0; i < kEach; ++i) {
    values[i * kThreads + tid] = own[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; MSL_LOOP(e < row[0].num_edits); e += kThreads) {
    MSL_DEVICE const pagoda_args::SampleEdit* edit = edits + row[0].first_edit + e;
    const uint chunk = edit[0].id / kThreads;
    if (edit[0].id < args.vocab && chunk % args.parts == part) {
      const uint at = chunk / args.parts * kThreads + edit[0].id % kThreads;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = 0; i < kEach; ++i) {
    own[i] = values[i * kThreads + tid];
  }
}
