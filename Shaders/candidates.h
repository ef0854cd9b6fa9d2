// Candidates of sample: a logit and its id packed into one number, and the selection of a threadgroup's highest ones.
#pragma once

#include "common.h"
#include "keys.h"

constant constexpr uint kThreads = 256;
constant constexpr uint kSimdgroups = kThreads / 32;
constant constexpr uint kEach = 16;      // candidates per thread
constant constexpr uint kMostKept = 64;  // the maximum top_k
constant constexpr uint kRefused = 0xffffffffu;

// Ordered by likelihood: equal logits by id, the lower first, so that no two candidates are equal. 0: never drawn.
// Logits that the sampler rejects rank above all others.
METAL_FUNC ulong candidate_of(float logit, uint id) {
  uint key = key_of(logit);
  key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
  return key == kMinusInfinityKey ? 0ul : ulong(key) << 32 | ulong(0xffffffffu - id);
}

METAL_FUNC uint key_in(ulong candidate) { return uint(candidate >> 32); }
METAL_FUNC uint id_in(ulong candidate) { return 0xffffffffu - uint(candidate); }

// A bound that exactly the `wanted` highest candidates of all threads reach; 0 if there are fewer. counts: 2
// kSimdgroups
METAL_FUNC ulong bound_of(thread const ulong (&mine)[kEach], uint wanted, threadgroup uint* counts, uint lane,
                          uint sg) {
  ulong bound = 0;
  for (uint bit = 64; bit > 0; --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;
#pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      count += mine[i] >= tried ? 1u : 0u;
    }
    count = simd_sum(count);
    threadgroup uint* round = counts + bit % 2 * kSimdgroups;  // the other half may still be in use
    if (lane == 0) {
      round[sg] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint all = 0;
    for (uint i = 0; i < kSimdgroups; ++i) {
      all += round[i];
    }
    bound = all >= wanted ? tried : bound;
    if (all == wanted) {
      break;
    }
  }
  return bound;
}

// Moves the `wanted` highest candidates of all threads to `kept`, in any order, filled up with zeros if there are
// fewer. counts: 3 kSimdgroups
template <typename To>
METAL_FUNC void keep_highest(thread const ulong (&mine)[kEach], uint wanted, To kept, threadgroup uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  uint count = 0;
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint next = simd_prefix_exclusive_sum(count);  // index in kept of the thread's first candidate
  threadgroup uint* totals = counts + 2 * kSimdgroups;
  if (lane == 31) {
    totals[sg] = next + count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint i = 0; i < kSimdgroups; ++i) {
    next += i < sg ? totals[i] : 0u;
    all += totals[i];
  }
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    if (mine[i] != 0 && mine[i] >= bound) {
      kept[next] = mine[i];
      ++next;
    }
  }
  if (tid >= all && tid < wanted) {
    kept[tid] = 0;
  }
}
