// candidates.h for the software device. Made by Tools/mslc/generate.sh.
#pragma once
# 4 "Shaders/candidates.h"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/keys.h"

MSL_CONSTANT constexpr uint kThreads = 256;
MSL_CONSTANT constexpr uint kSimdgroups = kThreads / 32;
MSL_CONSTANT constexpr uint kEach = 16;
MSL_CONSTANT constexpr uint kMostKept = 64;
MSL_CONSTANT constexpr uint kRefused = 0xffffffffu;
# 15 "Shaders/candidates.h"
METAL_FUNC ulong candidate_of(float logit, uint id) {
  uint key = key_of(logit);
  key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
  return key == kMinusInfinityKey ? 0ul : ulong(key) << 32 | ulong(0xffffffffu - id);
}

METAL_FUNC uint key_in(ulong candidate) { return uint(candidate >> 32); }
METAL_FUNC uint id_in(ulong candidate) { return 0xffffffffu - uint(candidate); }
# 26 "Shaders/candidates.h"
METAL_FUNC ulong bound_of(MSL_THREAD const ulong (&mine)[kEach], uint wanted, MSL_THREADGROUP uint* counts, uint lane,
                          uint sg) {
  ulong bound = 0;
  for (uint bit = 64; MSL_LOOP(bit > 0); --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;

    for (uint i = 0; i < kEach; ++i) {
      count += mine[i] >= tried ? 1u : 0u;
    }
    count = simd_sum(count);
    MSL_THREADGROUP uint* round = counts + bit % 2 * kSimdgroups;
    if (lane == 0) {
      round[sg] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint all = 0;
    for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
      all += round[i];
    }
    bound = all >= wanted ? tried : bound;
    if (all == wanted) {
      break;
    }
  }
  return bound;
}
# 56 "Shaders/candidates.h"
template <typename To>
METAL_FUNC uint keep_from(MSL_THREAD const ulong (&mine)[kEach], ulong bound, uint room, To kept, MSL_THREADGROUP uint* totals,
                          uint tid, uint lane, uint sg) {
  uint count = 0;

  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint next = simd_prefix_exclusive_sum(count);
  if (lane == 31) {
    totals[sg] = next + count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
    next += i < sg ? totals[i] : 0u;
    all += totals[i];
  }

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


template <typename To>
METAL_FUNC void keep_highest(MSL_THREAD const ulong (&mine)[kEach], uint wanted, To kept, MSL_THREADGROUP uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  keep_from(mine, bound, wanted, kept, counts + 2 * kSimdgroups, tid, lane, sg);
}


METAL_FUNC void load_found(MSL_DEVICE const ulong* found, uint parts, uint wanted, uint tid, MSL_THREAD ulong (&mine)[kEach]) {

  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < parts * wanted) {
      mine[i] = found[long(at / wanted) * kThreads + at % wanted];
    }
  }
}


METAL_FUNC uint highest_key(uint key, MSL_THREADGROUP uint* keys, uint lane, uint sg) {
  key = simd_max(key);
  if (lane == 0) {
    keys[sg] = key;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
    key = max(key, keys[i]);
  }
  return key;
}


METAL_FUNC uint highest_in(MSL_DEVICE const uint* highest, uint parts, MSL_THREADGROUP uint* keys, uint tid, uint lane,
                           uint sg) {
  return highest_key(tid < parts ? highest[tid] : 0u, keys, lane, sg);
}


METAL_FUNC ulong mass_of(ulong own, MSL_THREADGROUP ulong* masses, uint lane, uint sg) {
  const uint upper = simd_sum(uint(own >> 26));
  const uint lower = simd_sum(uint(own) & 0x3ffffffu);
  if (lane == 0) {
    masses[sg] = (ulong(upper) << 26) + lower;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong mass = 0;
  for (uint i = 0; MSL_LOOP(i < kSimdgroups); ++i) {
    mass += masses[i];
  }
  return mass;
}
