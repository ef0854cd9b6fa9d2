// The text of route_experts.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource route_experts_source() noexcept {
  return {"route_experts",
R"msl(#include "common.h"
#include "keys.h"
#include "args/experts.h"
constant constexpr uint kMaxChosen = 64;
METAL_FUNC float choice_of(device const float* logits, device const float* bias, uint e,
                           constant pagoda_args::RouteExperts& args) {
  if (args.is_sigmoid == 0) {
    return logits[e];
  }
  return sigmoid(logits[e]) + (args.has_bias != 0 ? bias[e] : 0.0f);
}
METAL_FUNC uint best_groups(device const float* logits, device const float* bias, uint lane,
                            constant pagoda_args::RouteExperts& args) {
  const uint size = args.num_experts / args.num_groups;
  float first = kNegBig;
  float second = kNegBig;
  const uint group = lane < args.num_groups ? lane : 0;
  for (uint e = group * size; e < (group + 1) * size; ++e) {
    const float value = choice_of(logits, bias, e, args);
    second = max(second, min(first, value));
    first = max(first, value);
  }
  const uint key = key_of(args.is_sigmoid != 0 ? first + second : first);
  bool is_left = lane < args.num_groups;
  uint kept = 0;
  for (uint i = 0; i < args.groups_per_token; ++i) {
    const uint best = simd_max(is_left ? key : 0u);
    const uint winner = simd_min(is_left && key == best ? lane : 32u);
    kept |= 1u << winner;
    is_left = is_left && lane != winner;
  }
  return kept;
}
[[max_total_threads_per_threadgroup(32)]]
kernel void route_experts(device const float* logits [[buffer(0)]],
                          device const float* bias [[buffer(1)]],
                          device int* ids [[buffer(2)]],
                          device float* weights [[buffer(3)]],
                          constant pagoda_args::RouteExperts& args [[buffer(4)]],
                          uint token [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  MSL_SHARED float chosen[kMaxChosen];
  device const float* from = logits + long(token) * args.logits_stride;
  const uint group_size = args.num_experts / args.num_groups;
  uint kept = 1;
  if (args.num_groups > 1) {
    kept = best_groups(from, bias, lane, args);
  }
  uint last_key = 0xffffffffu;
  int last = -1;
  for (uint j = 0; j < args.chosen; ++j) {
    uint best = 0;
    int found = int(args.num_experts);
    for (int e = int(lane); e < int(args.num_experts); e += 32) {
      const uint key = key_of(choice_of(from, bias, uint(e), args));
      const bool is_candidate = ((kept >> (uint(e) / group_size)) & 1u) != 0;
      const bool is_left = is_candidate && (key < last_key || (key == last_key && e > last));
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
  if (args.is_sigmoid != 0) {
    float sum = 0.0f;
    for (uint j = 0; j < args.chosen; ++j) {
      sum += sigmoid(chosen[j]);
    }
    for (uint j = lane; j < args.chosen; j += 32) {
      const float share = sigmoid(chosen[j]);
      weights[long(token) * args.weights_stride + j] = (args.normalise != 0 ? share / sum : share) * args.scale;
    }
    return;
  }
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
    weights[long(token) * args.weights_stride + j] = precise::exp(chosen[j] - largest) / sum * args.scale;
  }
}
)msl",
R"msl(#define MSL_KERNEL_route_experts(BOUNDS) MSL_GLOBAL(BOUNDS)(const float* logits, const float* bias, int* ids, float* weights, const pagoda_args::RouteExperts args) { msl_let_dependents_begin(); msl_wait_for_inputs(); route_experts(logits, bias, ids, weights, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_route_experts MSL_KERNEL_route_experts((32))
)msl"};
}
}  // namespace pagoda::device::gpu::generated
