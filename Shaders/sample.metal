// sample: for each row of logits, the token that sampler/ draws: top-k, then min-p, then top-p of the tempered
// distribution, and a draw by inverse CDF in id order with the row's random bits from a counter-based generator.
// Weights are integers, so that sums are exact in any order; sampler/logit_blocks.h has the same arithmetic.
#include "args/sample.h"
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

METAL_FUNC float logit_in(ulong candidate) {
  const uint key = key_in(candidate);
  return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}

// Grid: [parts, rows]. found: [rows, parts, kMostKept], the first top_k of each.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample_parts(device const float* logits [[buffer(0)]],
                         device const pagoda_args::SampleRow* rows [[buffer(1)]],
                         device ulong* found [[buffer(2)]],
                         constant pagoda_args::Sample& args [[buffer(3)]],
                         uint2 group [[threadgroup_position_in_grid]],
                         uint tid [[thread_index_in_threadgroup]],
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint counts[3 * kSimdgroups];
  const uint wanted = min(rows[group.y].top_k, kMostKept);
  device const float* from = logits + long(group.y) * args.logits_stride;
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint id = (group.x * kEach + i) * kThreads + tid;
    mine[i] = 0;
    if (id < args.vocab) {
      mine[i] = candidate_of(from[id], id);
    }
  }
  device ulong* kept = found + (long(group.y) * args.parts + group.x) * kMostKept;
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
  const uint wanted = min(rows[row].top_k, kMostKept);
  ulong mine[kEach];
  #pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < args.parts * wanted) {
      mine[i] = found[(long(row) * args.parts + at / wanted) * kMostKept + at % wanted];
    }
  }
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
