// sample: a token for each row of logits, nearly as sampler/ draws it: top-k, then min-p, then top-p of the tempered
// distribution, and a draw by inverse CDF in id order, from Philox 4x32-10. Sums are floats in one order; sampler/ has
// doubles, so a draw on the edge between two tokens may differ from it: the engine draws with sampler/, whatever device.
#include "common.h"
#include "keys.h"
#include "args/sample.h"

constant constexpr uint kThreads = 256;

METAL_FUNC uint multiply_high(uint a, uint b) {
  return uint((ulong(a) * ulong(b)) >> 32);
}

// The first 24 bits of Philox 4x32-10, in [0, 1).
METAL_FUNC float uniform_at(uint seed_low, uint seed_high, uint index_low, uint index_high) {
  uint c[4] = {index_low, index_high, 0, 0};
  uint key[2] = {seed_low, seed_high};
  for (uint round = 0; round < 10; ++round) {
    const uint high0 = multiply_high(0xD2511F53u, c[0]);
    const uint low0 = 0xD2511F53u * c[0];
    const uint high1 = multiply_high(0xCD9E8D57u, c[2]);
    const uint low1 = 0xCD9E8D57u * c[2];
    c[0] = high1 ^ c[1] ^ key[0];
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ key[1];
    c[3] = low0;
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return float(c[0] >> 8) * 5.9604644775390625e-8f;
}

// Sums of all threads before this one, and of all, in the order of threads. `parts` may be used again at once.
METAL_FUNC float sum_before(float x, threadgroup float* parts, uint tid, thread float& total) {
  parts[tid] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float before = 0.0f;
  float all = 0.0f;
  for (uint i = 0; i < kThreads; ++i) {
    before = i == tid ? all : before;
    all += parts[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = all;
  return before;
}

// What may be drawn: keys above `least`, and the first `ties` of those equal to it.
struct Kept {
  uint least;
  float ties;
  float min_weight;
};

// `seen` counts the keys before this one that equal `least`, and is moved on.
METAL_FUNC bool is_kept(Kept kept, uint key, float weight, thread float& seen) {
  const bool is_tie = key == kept.least;
  const bool is_in = key > kept.least || (is_tie && seen < kept.ties);
  seen += is_tie ? 1.0f : 0.0f;
  return is_in && weight >= kept.min_weight && weight > 0.0f;
}

// 1 for the most likely token. An infinite logit, which kernels do not count on, gives the same 0 as kNegBig.
METAL_FUNC float weight_of(float logit, float highest, float temperature) {
  return precise::exp((max(kNegBig, logit) - highest) / temperature);
}

METAL_FUNC float logit_of(uint key) {
  return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}

// Grid: [rows]. rows: one SampleRow each.
[[max_total_threads_per_threadgroup(256)]]
kernel void sample(device const float* logits [[buffer(0)]],
                   device const pagoda_args::SampleRow* rows [[buffer(1)]],
                   device int* tokens [[buffer(2)]],
                   constant pagoda_args::Sample& args [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
  threadgroup float parts[kThreads];
  threadgroup uint ids[kThreads];
  threadgroup uint last_ids[kThreads];
  device const float* from = logits + long(row) * args.logits_stride;
  const uint each = (args.vocab + kThreads - 1) / kThreads;
  const uint begin = min(args.vocab, tid * each);
  const uint end = min(args.vocab, begin + each);
  const float temperature = rows[row].temperature;

  float highest = kNegBig;
  for (uint i = begin; i < end; ++i) {
    highest = max(highest, from[i]);
  }
  parts[tid] = highest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < kThreads; ++i) {
    highest = max(highest, parts[i]);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // The keys of the most likely top_k, by halves: the greatest key that top_k logits or more reach.
  Kept kept = {key_of(kNegBig), float(args.vocab), rows[row].min_p};
  float total = 0.0f;
  if (rows[row].top_k > 0 && rows[row].top_k < args.vocab) {
    const float wanted = float(rows[row].top_k);
    uint least = 0;
    for (uint bit = 0x80000000u; bit > 0; bit >>= 1) {
      float count = 0.0f;
      for (uint i = begin; i < end; ++i) {
        count += key_of(from[i]) >= (least | bit) ? 1.0f : 0.0f;
      }
      sum_before(count, parts, tid, total);
      least = total >= wanted ? least | bit : least;
    }
    float above = 0.0f;
    for (uint i = begin; i < end; ++i) {
      above += key_of(from[i]) > least ? 1.0f : 0.0f;
    }
    sum_before(above, parts, tid, total);
    kept.least = least;
    kept.ties = wanted - total;
  }

  // First the sum of all that top-k and min-p leave, then of what top-p leaves of it; then the draw.
  const bool has_top_p = rows[row].top_p < 1.0f;
  float all = 0.0f;
  float before = 0.0f;
  float ties_before = 0.0f;
  for (uint pass = 0; pass < (has_top_p ? 2u : 1u); ++pass) {
    float equal = 0.0f;
    for (uint i = begin; i < end; ++i) {
      equal += key_of(from[i]) == kept.least ? 1.0f : 0.0f;
    }
    ties_before = sum_before(equal, parts, tid, total);
    float seen = ties_before;
    float sum = 0.0f;
    for (uint i = begin; i < end; ++i) {
      const float weight = weight_of(from[i], highest, temperature);
      sum += is_kept(kept, key_of(from[i]), weight, seen) ? weight : 0.0f;
    }
    before = sum_before(sum, parts, tid, all);
    if (pass == 0 && has_top_p) {
      // The greatest key whose tokens and those above reach their share of the sum, by halves. What was refused last
      // began at the next greater key.
      const float wanted = rows[row].top_p * all;
      uint least = 0;
      float above = 0.0f;
      for (uint bit = 0x80000000u; bit > 0; bit >>= 1) {
        sum = 0.0f;
        seen = ties_before;
        for (uint i = begin; i < end; ++i) {
          const uint key = key_of(from[i]);
          const float weight = weight_of(from[i], highest, temperature);
          sum += is_kept(kept, key, weight, seen) && key >= (least | bit) ? weight : 0.0f;
        }
        sum_before(sum, parts, tid, total);
        least = total >= wanted ? least | bit : least;
        above = total < wanted ? total : above;
      }
      const float ties = max(1.0f, ceil((wanted - above) / weight_of(logit_of(least), highest, temperature)));
      kept.ties = least > kept.least ? ties : min(kept.ties, ties);
      kept.least = least;
    }
  }

  // The first id at which the sum passes the target; the last one with any weight, should rounding leave none.
  const float target =
      uniform_at(rows[row].seed_low, rows[row].seed_high, rows[row].index_low, rows[row].index_high) * all;
  float reached = before;
  float seen = ties_before;
  uint id = args.vocab;
  uint last = 0;
  for (uint i = begin; i < end; ++i) {
    const float weight = weight_of(from[i], highest, temperature);
    if (is_kept(kept, key_of(from[i]), weight, seen)) {
      reached += weight;
      last = i;
      id = reached > target ? min(id, i) : id;
    }
  }
  ids[tid] = id;
  last_ids[tid] = last;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (tid == 0) {
    for (uint i = 0; i < kThreads; ++i) {
      id = min(id, ids[i]);
      last = max(last, last_ids[i]);
    }
    tokens[row] = int(id < args.vocab ? id : last);
  }
}
