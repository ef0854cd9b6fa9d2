// sample of rows without top-k: the sums of all weights, then the most likely tokens of a mass among the candidates of
// the parts, or a draw from every token. A row of which too many candidates belong to one part gives -1: the sampler
// draws it.
#include "edits.h"
#include "weights.h"

// Grid: [parts, rows]. sums: [rows, kEach * parts], the weights of each chunk of kThreads tokens.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_sums(device const float* logits [[buffer(0)]],
                        device const pagoda_args::SampleRow* rows [[buffer(1)]],
                        device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                        device const uint* masks [[buffer(3)]],
                        device const ulong* found [[buffer(4)]],
                        device ulong* sums [[buffer(5)]],
                        constant pagoda_args::Sample& args [[buffer(6)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup float values[kPart];
  threadgroup ulong partial[kEach * kSimdgroups];
  const bool is_wanted = args.is_raw != 0 ? rows[group.y].num_logprobs > 0 : rows[group.y].is_whole != 0;
  if (!is_wanted) {
    return;  // all threads
  }
  ulong mine[kEach];
  const uint kept = args.is_raw != 0 ? rows[group.y].num_logprobs : kMostKept;
  load_found(found + long(group.y) * args.parts * kMostKept, args.parts, kept, tid, mine);
  const uint key = highest_key(mine, keys, lane, sg);
  if (key == 0 || key == kRefused) {
    return;  // no token will be drawn
  }
  const float highest = logit_of(key);
  const float temperature = args.is_raw != 0 ? 1.0f : rows[group.y].temperature;
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, rows + group.y, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const ulong weight = whole_weight(weight_of((own[i] - highest) / temperature));
    const uint upper = simd_sum(uint(weight >> 20));
    const uint lower = simd_sum(uint(weight) & 0xfffffu);
    if (lane == 0) {
      partial[i * kSimdgroups + sg] = (ulong(upper) << 20) + lower;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid < kEach) {
    ulong sum = 0;
    for (uint i = 0; i < kSimdgroups; ++i) {
      sum += partial[tid * kSimdgroups + i];
    }
    sums[(long(group.y) * kEach + tid) * args.parts + group.x] = sum;
  }
}

// The chunk of a whole row in which a draw falls, for rows of up to 4 kThreads chunks; `rest`: the draw within it.
// own_sums: kThreads; found: 1, place: 1
METAL_FUNC void find_chunk(device const ulong* sums, uint chunks, ulong random, threadgroup ulong* own_sums,
                           threadgroup uint* found, threadgroup ulong* place, uint tid) {
  ulong own = 0;
  for (uint i = tid * 4; i < min(tid * 4 + 4, chunks); ++i) {
    own += sums[i];
  }
  own_sums[tid] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong before = 0;
  ulong total = 0;
  for (uint i = 0; i < kThreads; ++i) {
    before += i < tid ? own_sums[i] : 0ul;
    total += own_sums[i];
  }
  const ulong target = multiply_high(total, random);
  if (before <= target && target < before + own) {
    uint chunk = tid * 4;
    ulong rest = target - before;
    while (rest >= sums[chunk]) {
      rest -= sums[chunk];
      ++chunk;
    }
    found[0] = chunk;
    place[0] = rest;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_anywhere(device const float* logits [[buffer(0)]],
                            device const pagoda_args::SampleRow* rows [[buffer(1)]],
                            device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                            device const uint* masks [[buffer(3)]],
                            device const ulong* found [[buffer(4)]],
                            device const ulong* sums [[buffer(5)]],
                            device int* tokens [[buffer(6)]],
                            constant pagoda_args::Sample& args [[buffer(7)]],
                            uint row [[threadgroup_position_in_grid]],
                            uint tid [[thread_index_in_threadgroup]],
                            uint sg [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup ulong weights[kThreads];
  threadgroup float values[kThreads];
  threadgroup uint chosen[1];
  threadgroup ulong place[1];
  device const pagoda_args::SampleRow* own_row = rows + row;
  if (own_row[0].is_whole == 0 || own_row[0].min_weight > 0 || own_row[0].top_p != ~0ul) {
    return;  // all threads
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kMostKept, args.parts, kMostKept, tid, mine);
  const uint key = highest_key(mine, keys, lane, sg);
  if (key == 0 || key == kRefused) {
    if (tid == 0) {
      tokens[row] = -1;
    }
    return;
  }
  find_chunk(sums + long(row) * kEach * args.parts, kEach * args.parts, own_row[0].random,
             (threadgroup ulong*)(weights), (threadgroup uint*)(chosen), (threadgroup ulong*)(place), tid);
  const uint begin = chosen[0] * kThreads;
  values[tid] = as_type<float>(kMinusInfinityBits);
  if (begin + tid < args.vocab) {
    values[tid] = masked(logits[long(row) * args.logits_stride + begin + tid], masks, own_row[0].mask,
                         args.mask_words, begin + tid);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; e < own_row[0].num_edits; e += kThreads) {
    device const pagoda_args::SampleEdit* edit = edits + own_row[0].first_edit + e;
    if (edit[0].id >= begin && edit[0].id < begin + kThreads) {
      const uint at = edit[0].id - begin;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong weight = whole_weight(weight_of((values[tid] - logit_of(key)) / own_row[0].temperature));
  weights[tid] = weight;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong before = 0;
  for (uint i = 0; i < tid; ++i) {
    before += weights[i];
  }
  if (before <= place[0] && place[0] < before + weight) {
    tokens[row] = int(begin + tid);
  }
}

// Grid: [rows]. Rows with top-p or min-p.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_whole(device const pagoda_args::SampleRow* rows [[buffer(0)]],
                         device const ulong* found [[buffer(1)]],
                         device const ulong* sums [[buffer(2)]],
                         device int* tokens [[buffer(3)]],
                         constant pagoda_args::Sample& args [[buffer(4)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup ulong masses[2 * kSimdgroups];
  threadgroup uint ends[kEach * kSimdgroups];
  device const pagoda_args::SampleRow* own_row = rows + row;
  const ulong min_weight = own_row[0].min_weight;
  if (own_row[0].is_whole == 0 || (min_weight == 0 && own_row[0].top_p == ~0ul)) {
    return;  // all threads
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kMostKept, args.parts, kMostKept, tid, mine);
  const uint key = highest_key(mine, keys, lane, sg);
  if (key == 0 || key == kRefused) {
    if (tid == 0) {
      tokens[row] = -1;
    }
    return;
  }
  ulong weights[kEach];
  ulong own = 0;
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const float x = (logit_in(mine[i]) - logit_of(key)) / own_row[0].temperature;
    weights[i] = mine[i] != 0 ? whole_weight(weight_of(x)) : 0ul;
    own += weights[i] >= min_weight ? weights[i] : 0ul;
  }
  if (min_weight == 0) {
    own = 0;
    for (uint i = tid; i < kEach * args.parts; i += kThreads) {
      own += sums[long(row) * kEach * args.parts + i];
    }
  }
  const ulong wanted = multiply_high(mass_of(own, (threadgroup ulong*)(masses), lane, sg), own_row[0].top_p) + 1;

  // The last candidate of the most likely ones that have the wanted mass together.
  ulong last = 0;
  for (uint bit = 64; bit > 0; --bit) {
    const ulong tried = last | 1ul << (bit - 1);
    own = 0;
    #pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      own += mine[i] >= tried && weights[i] >= min_weight ? weights[i] : 0ul;
    }
    const ulong mass = mass_of(own, masses + (bit + 1) % 2 * kSimdgroups, lane, sg);
    last = mass >= wanted ? tried : last;
  }

  // A part that has kept as many as it can tells nothing about tokens below its last one. Weights of tokens in order
  // may differ from that order by their rounding.
  own = 0;
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const bool is_below = min_weight == 0 ? mine[i] <= last : weights[i] + weights[i] / 256 + 1 < min_weight;
    const uint below = simd_sum(is_below || mine[i] == 0 ? 1u : 0u);
    if (lane == 0) {
      ends[i * kSimdgroups + sg] = below;
    }
    own += mine[i] >= last && weights[i] >= min_weight ? weights[i] : 0ul;
  }
  const ulong all = mass_of(own, masses + kSimdgroups, lane, sg);
  bool is_known = last != 0;
  for (uint part = 0; part < args.parts; ++part) {
    is_known = is_known && ends[2 * part] + ends[2 * part + 1] > 0;  // kMostKept candidates: two simdgroups
  }
  const ulong target = multiply_high(all, own_row[0].random);
  uint id = 0;  // the highest whose lower ids weigh no more than the target
  for (uint bit = 18; bit > 0; --bit) {
    const uint tried = id | 1u << (bit - 1);
    own = 0;
    #pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      own += mine[i] >= last && weights[i] >= min_weight && id_in(mine[i]) < tried ? weights[i] : 0ul;
    }
    const ulong mass = mass_of(own, masses + bit % 2 * kSimdgroups, lane, sg);
    id = mass <= target ? tried : id;
  }
  if (tid == 0) {
    tokens[row] = is_known ? int(id) : -1;
  }
}
