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

// Moves the candidates of all threads from `bound` on to `kept`, in any order, filled up with zeros to `room`, at most
// kThreads. More than that leave kRefused in all places. Returns their number. totals: kSimdgroups
template <typename To>
METAL_FUNC uint keep_from(thread const ulong (&mine)[kEach], ulong bound, uint room, To kept, threadgroup uint* totals,
                          uint tid, uint lane, uint sg) {
  uint count = 0;
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint next = simd_prefix_exclusive_sum(count);  // index in kept of the thread's first candidate
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
    if (mine[i] != 0 && mine[i] >= bound && all <= room) {
      kept[next] = mine[i];
      ++next;
    }
  }
  if (tid < room && (tid >= all || all > room)) {
    kept[tid] = all > room ? ulong(kRefused) << 32 : 0ul;
  }
  return all;
}

// Moves the `wanted` highest candidates of all threads to `kept`, as above. counts: 3 kSimdgroups
template <typename To>
METAL_FUNC void keep_highest(thread const ulong (&mine)[kEach], uint wanted, To kept, threadgroup uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  keep_from(mine, bound, wanted, kept, counts + 2 * kSimdgroups, tid, lane, sg);
}

// The candidates that the parts of a row have kept, `wanted` each.
METAL_FUNC void load_found(device const ulong* found, uint parts, uint wanted, uint tid, thread ulong (&mine)[kEach]) {
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < parts * wanted) {
      mine[i] = found[long(at / wanted) * kThreads + at % wanted];
    }
  }
}

// The highest key of all threads. keys: kSimdgroups
METAL_FUNC uint highest_key(uint key, threadgroup uint* keys, uint lane, uint sg) {
  key = simd_max(key);
  if (lane == 0) {
    keys[sg] = key;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < kSimdgroups; ++i) {
    key = max(key, keys[i]);
  }
  return key;
}

// The highest key of a row, from those of its parts.
METAL_FUNC uint highest_in(device const uint* highest, uint parts, threadgroup uint* keys, uint tid, uint lane,
                           uint sg) {
  return highest_key(tid < parts ? highest[tid] : 0u, keys, lane, sg);
}

// The sum of numbers below 2^52 over all threads. masses: kSimdgroups, not those of the call before
METAL_FUNC ulong mass_of(ulong own, threadgroup ulong* masses, uint lane, uint sg) {
  const uint upper = simd_sum(uint(own >> 26));
  const uint lower = simd_sum(uint(own) & 0x3ffffffu);
  if (lane == 0) {
    masses[sg] = (ulong(upper) << 26) + lower;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong mass = 0;
  for (uint i = 0; i < kSimdgroups; ++i) {
    mass += masses[i];
  }
  return mass;
}
