// route_experts: the most probable experts of each token, of equal ones the lower index, and their probabilities.
#include "common.h"
#include "keys.h"
#include "args/experts.h"

constant constexpr uint kMaxChosen = 64;

// Each search takes the highest after the last one found, so no list of taken experts is kept.
// Grid: [tokens], one simdgroup each
[[max_total_threads_per_threadgroup(32)]]
kernel void route_experts(device const float* logits [[buffer(0)]],
                          device int* ids [[buffer(1)]],
                          device float* weights [[buffer(2)]],
                          constant pagoda_args::RouteExperts& args [[buffer(3)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float chosen[kMaxChosen];
  device const float* from = logits + long(token) * args.logits_stride;
  uint last_key = 0xffffffffu;
  int last = -1;
  for (uint j = 0; j < args.chosen; ++j) {
    uint best = 0;
    int found = int(args.num_experts);
    for (int e = int(lane); e < int(args.num_experts); e += 32) {
      const uint key = key_of(from[e]);
      const bool is_left = key < last_key || (key == last_key && e > last);
      const bool is_better = is_left && (key > best || found == int(args.num_experts));
      best = is_better ? key : best;
      found = is_better ? e : found;
    }
    last_key = simd_max(best);
    last = simd_min(best == last_key ? found : int(args.num_experts));
    if (lane == 0) {
      ids[long(token) * args.ids_stride + j] = last;
      chosen[j] = from[last];
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const float largest = chosen[0];
  float sum = 0.0f;
  if (args.normalise != 0) {
    for (uint j = 0; j < args.chosen; ++j) {
      sum += precise::exp(chosen[j] - largest);
    }
  } else {
    for (uint e = lane; e < args.num_experts; e += 32) {
      sum += precise::exp(from[e] - largest);
    }
    sum = simd_sum(sum);
  }
  for (uint j = lane; j < args.chosen; j += 32) {
    weights[long(token) * args.weights_stride + j] = precise::exp(chosen[j] - largest) / sum;
  }
}
