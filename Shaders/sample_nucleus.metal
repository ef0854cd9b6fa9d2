// sample of rows with top-p and without top-k: the least likely of the most likely tokens that have the wanted mass
// together. The masses of buckets of logits tell the bucket that has it, those of finer ones the finer bucket, whose
// few tokens are compared with each other. A row in which too many have nearly the same logit is left to the sampler.
#include "edits.h"
#include "weights.h"

constant constexpr uint kMostEqual = 16;  // of a part, in the finer bucket

// The weight of a token if it may be drawn, from its logit's distance from the highest one.
METAL_FUNC ulong counted_weight(float x, device const pagoda_args::SampleRow* row) {
  const ulong weight = whole_weight(weight_of(x));
  return weight >= row[0].min_weight ? weight : 0ul;
}

// Grid: [parts, rows]. found: [rows, parts, kThreads], the mass of each bucket.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_masses(device const float* logits [[buffer(0)]],
                          device const pagoda_args::SampleRow* rows [[buffer(1)]],
                          device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                          device const uint* masks [[buffer(3)]],
                          device const uint* highest [[buffer(4)]],
                          device const pagoda_args::SampleCut* cuts [[buffer(5)]],
                          device ulong* found [[buffer(6)]],
                          constant pagoda_args::Sample& args [[buffer(7)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup float values[kPart];
  threadgroup atomic_uint masses[4 * kThreads];  // lower and upper parts, of each half of the simdgroups: no overflow
  device const pagoda_args::SampleRow* row = rows + group.y;
  if (!has_nucleus(row)) {
    return;  // all threads
  }
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    atomic_store_explicit(masses + i * kThreads + tid, 0u, memory_order_relaxed);
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;  // no token will be drawn
  }
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const float x = (own[i] - logit_of(key)) / row[0].temperature;
    const ulong weight = counted_weight(x, row);
    uint bucket = bucket_of(x);
    const bool is_in = args.level == 0 || bucket == cuts[group.y].bucket[0];
    bucket = args.level == 0 ? bucket : finer_bucket_of(x);
    if (weight > 0 && is_in) {
      threadgroup atomic_uint* own_masses = masses + (sg % 2 * 2) * kThreads + bucket;
      atomic_fetch_add_explicit(own_masses, uint(weight) & 0xfffffu, memory_order_relaxed);
      atomic_fetch_add_explicit(own_masses + kThreads, uint(weight >> 20), memory_order_relaxed);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong mass = 0;
  #pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const uint part = atomic_load_explicit(masses + i * kThreads + tid, memory_order_relaxed);
    mass += ulong(part) << (i % 2 * 20);
  }
  found[(long(group.y) * args.parts + group.x) * kThreads + tid] = mass;
}

// Grid: [rows]. The bucket in which the mass ends.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_bucket(device const pagoda_args::SampleRow* rows [[buffer(0)]],
                          device const uint* highest [[buffer(1)]],
                          device const ulong* found [[buffer(2)]],
                          device pagoda_args::SampleCut* cuts [[buffer(3)]],
                          constant pagoda_args::Sample& args [[buffer(4)]],
                          uint group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup ulong masses[kThreads];
  threadgroup ulong place[2];
  device const pagoda_args::SampleRow* row = rows + group;
  if (!has_nucleus(row)) {
    return;  // all threads
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;  // no token will be drawn
  }
  ulong own = 0;
  for (uint part = 0; part < args.parts; ++part) {
    own += found[(long(group) * args.parts + part) * kThreads + tid];
  }
  device pagoda_args::SampleCut* cut = cuts + group;
  const ulong rest = args.level == 0 ? 0ul : cut[0].rest[0];
  find_place(own, args.level == 0, rest, row[0].top_p, (threadgroup ulong*)(masses), (threadgroup ulong*)(place), tid);
  if (tid == 0) {
    cut[0].bucket[args.level] = uint(place[0]);
    cut[0].rest[args.level] = place[1];
  }
}

// Grid: [parts, rows]. found: [rows, parts, kThreads], the tokens of the finer bucket, kMostEqual of each part.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_gather(device const float* logits [[buffer(0)]],
                          device const pagoda_args::SampleRow* rows [[buffer(1)]],
                          device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                          device const uint* masks [[buffer(3)]],
                          device const uint* highest [[buffer(4)]],
                          device const pagoda_args::SampleCut* cuts [[buffer(5)]],
                          device ulong* found [[buffer(6)]],
                          constant pagoda_args::Sample& args [[buffer(7)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup uint totals[kSimdgroups];
  threadgroup float values[kPart];
  device const pagoda_args::SampleRow* row = rows + group.y;
  if (!has_nucleus(row)) {
    return;  // all threads
  }
  const uint key = highest_in(highest + group.y * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;  // no token will be drawn
  }
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  device const pagoda_args::SampleCut* cut = cuts + group.y;
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const float x = (own[i] - logit_of(key)) / row[0].temperature;
    mine[i] = 0;
    if (bucket_of(x) == cut[0].bucket[0] && finer_bucket_of(x) == cut[0].bucket[1]) {
      mine[i] = candidate_of(own[i], (i * args.parts + group.x) * kThreads + tid);
    }
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kThreads;
  keep_from(mine, 0ul, kMostEqual, kept, (threadgroup uint*)(totals), tid, lane, sg);
}

// Grid: [rows]. The token in which the mass ends.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_last(device const pagoda_args::SampleRow* rows [[buffer(0)]],
                        device const uint* highest [[buffer(1)]],
                        device const ulong* found [[buffer(2)]],
                        device pagoda_args::SampleCut* cuts [[buffer(3)]],
                        constant pagoda_args::Sample& args [[buffer(4)]],
                        uint group [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup uint totals[kSimdgroups];
  threadgroup ulong kept[kThreads];
  threadgroup ulong weights[kThreads];
  device const pagoda_args::SampleRow* row = rows + group;
  if (!has_nucleus(row)) {
    return;  // all threads
  }
  const uint key = highest_in(highest + group * args.parts, args.parts, keys, tid, lane, sg);
  if (key == 0 || key == kRefused) {
    return;  // no token will be drawn
  }
  ulong mine[kEach];
  load_found(found + long(group) * args.parts * kThreads, args.parts, kMostEqual, tid, mine);
  const uint all = keep_from(mine, 0ul, kThreads, (threadgroup ulong*)(kept), (threadgroup uint*)(totals), tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong own = kept[tid];
  const ulong weight = own != 0 ? counted_weight((logit_in(own) - logit_of(key)) / row[0].temperature, row) : 0ul;
  weights[tid] = weight;
  const uint highest_kept = highest_key(key_in(own), (threadgroup uint*)(totals), lane, sg);
  ulong likelier = 0;
  for (uint i = 0; i < min(all, kThreads); ++i) {
    likelier += kept[i] > own ? weights[i] : 0ul;
  }
  const ulong rest = cuts[group].rest[1];
  if (highest_kept == kRefused) {
    if (tid == 0) {
      cuts[group].last = ulong(kRefused) << 32;
    }
  } else if (likelier <= rest && rest < likelier + weight) {
    cuts[group].last = own;
  }
}
