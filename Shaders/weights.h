// Weights of logits as integers, so that sums are exact in any order; sampler/logit_blocks.h has the same arithmetic.
#pragma once

#include "candidates.h"

METAL_FUNC float multiply_add(float a, float b, float c) {
  const float product = a * b;  // a separate statement, so that it is rounded
  return product + c;
}

METAL_FUNC float weight_of(float x) {
  const float bounded = x > -87.0f ? x : -87.0f;
  const float shifted = multiply_add(bounded, 1.44269502f, 12582912.0f);
  const float n = shifted - 12582912.0f;
  float r = multiply_add(n, -0.693145752f, bounded);
  r = multiply_add(n, -1.42860677e-06f, r);
  float p = multiply_add(1.0f / 720.0f, r, 1.0f / 120.0f);
  p = multiply_add(p, r, 1.0f / 24.0f);
  p = multiply_add(p, r, 1.0f / 6.0f);
  p = multiply_add(p, r, 0.5f);
  p = multiply_add(p, r, 1.0f);
  p = multiply_add(p, r, 1.0f);
  const uint exponent = as_type<uint>(shifted) - 0x4b400000u + 127u;
  return x > -87.0f ? p * as_type<float>(exponent << 23) : 0.0f;
}

// In units of 2^-40, rounded down.
METAL_FUNC ulong whole_weight(float w) {
  const float scaled = w * 1048576.0f;
  const uint upper = uint(scaled);
  return (ulong(upper) << 20) + ulong((scaled - float(upper)) * 1048576.0f);
}

METAL_FUNC ulong multiply_high(ulong a, ulong b) {
  const ulong low = 0xffffffffu;
  const ulong middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (((a & low) * (b >> 32) + (middle & low)) >> 32);
}

METAL_FUNC float logit_of(uint key) { return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key); }

METAL_FUNC float logit_in(ulong candidate) { return logit_of(key_in(candidate)); }

// Tokens in buckets by logit, the most likely first: 256 of equal width, down to where weights are 0, and each of them
// in 256 finer ones. x: as weight_of's.
METAL_FUNC float bucket_place(float x) { return min(x * -9.14285755f, 255.0f); }

METAL_FUNC uint bucket_of(float x) { return uint(bucket_place(x)); }

METAL_FUNC uint finer_bucket_of(float x) {
  const float place = bucket_place(x);
  const float rest = place - float(uint(place));
  return uint(rest * 256.0f);
}

// Finds the thread whose part of a mass, in the order of the threads, contains `rest`, or without it the share
// `fraction` of the whole. place: 2, that thread and the rest within its part. own_masses: kThreads
METAL_FUNC void find_place(ulong own, bool is_share, ulong rest, ulong fraction, threadgroup ulong* own_masses,
                           threadgroup ulong* place, uint tid) {
  own_masses[tid] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong before = 0;
  ulong total = 0;
  for (uint i = 0; i < kThreads; ++i) {
    before += i < tid ? own_masses[i] : 0ul;
    total += own_masses[i];
  }
  const ulong target = is_share ? multiply_high(total, fraction) : rest;
  if (before <= target && target < before + own) {
    place[0] = tid;
    place[1] = target - before;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
