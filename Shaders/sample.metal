// sample: for each row of logits, the token that sampler/ draws: top-k, then min-p, then top-p of the tempered
// distribution, and a draw by inverse CDF in id order with the row's random bits from a counter-based generator.
#include "edits.h"
#include "weights.h"

// Grid: [parts, rows]. found: [rows, parts, kThreads], the first top_k of each; highest: [rows, parts], keys.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_parts(device const float* logits [[buffer(0)]],
                         device const pagoda_args::SampleRow* rows [[buffer(1)]],
                         device const pagoda_args::SampleEdit* edits [[buffer(2)]],
                         device const uint* masks [[buffer(3)]],
                         device ulong* found [[buffer(4)]],
                         device uint* highest [[buffer(5)]],
                         constant pagoda_args::Sample& args [[buffer(6)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint keys[kSimdgroups];
  threadgroup uint counts[3 * kSimdgroups];
  threadgroup float values[kPart];
  device const pagoda_args::SampleRow* row = rows + group.y;
  if ((args.is_raw != 0 ? row[0].num_logprobs : row[0].top_k) == 0) {
    return;  // all threads
  }
  const uint wanted = args.is_raw != 0 ? row[0].num_logprobs : wanted_of(row);
  float own[kEach];
  load_part(logits + long(group.y) * args.logits_stride, row, edits, masks, args, group.x,
            (threadgroup float*)(values), tid, own);
  ulong mine[kEach];
  uint key = 0;
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    mine[i] = candidate_of(own[i], (i * args.parts + group.x) * kThreads + tid);
    key = max(key, key_in(mine[i]));
  }
  key = highest_key(key, keys, lane, sg);
  if (tid == 0) {
    highest[group.y * args.parts + group.x] = key;
  }
  if (wanted == 0) {
    return;  // all threads
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kThreads;
  keep_highest(mine, wanted, kept, counts, tid, lane, sg);
}

// Grid: [rows]
[[max_total_threads_per_threadgroup(256)]]
kernel void sample(device const ulong* found [[buffer(0)]],
                   device const pagoda_args::SampleRow* rows [[buffer(1)]],
                   device int* tokens [[buffer(2)]],
                   constant pagoda_args::Sample& args [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint counts[3 * kSimdgroups];
  threadgroup ulong kept[kMostKept];
  threadgroup ulong weights[kMostKept];
  const uint wanted = wanted_of(rows + row);
  if (rows[row].is_whole != 0) {
    return;  // all threads; see sample_whole
  }
  ulong mine[kEach];
  load_found(found + long(row) * args.parts * kThreads, args.parts, wanted, tid, mine);
  keep_highest(mine, wanted, (threadgroup ulong*)(kept), counts, tid, lane, sg);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // From here on each thread has one candidate; those past the last have none.
  const ulong own = tid < wanted ? kept[tid] : 0ul;
  ulong highest = 0;
  for (uint i = 0; i < wanted; ++i) {
    highest = max(highest, kept[i]);
  }
  const float x = (logit_in(own) - logit_in(highest)) / rows[row].temperature;
  const ulong tempered = own != 0 ? whole_weight(weight_of(x)) : 0ul;
  const ulong weight = tempered >= rows[row].min_weight ? tempered : 0ul;
  if (tid < wanted) {
    weights[tid] = weight;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong total = 0;
  ulong likelier = 0;
  for (uint i = 0; i < wanted; ++i) {
    total += weights[i];
    likelier += kept[i] > own ? weights[i] : 0ul;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ulong left = likelier < multiply_high(total, rows[row].top_p) + 1 ? weight : 0ul;
  if (tid < wanted) {
    weights[tid] = left;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong all = 0;
  ulong before = 0;  // weights of lower ids
  for (uint i = 0; i < wanted; ++i) {
    all += weights[i];
    before += id_in(kept[i]) < id_in(own) ? weights[i] : 0ul;
  }
  const ulong target = multiply_high(all, rows[row].random);
  const bool is_refused = highest == 0 || key_in(highest) == kRefused;
  if (tid == 0 && is_refused) {
    tokens[row] = -1;
  }
  if (!is_refused && before <= target && target < before + left) {
    tokens[row] = int(id_in(own));
  }
}
