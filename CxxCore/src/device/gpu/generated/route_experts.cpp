// route_experts.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/route_experts.metal"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/keys.h"
#include "device/gpu/generated/args_experts.h"

MSL_CONSTANT constexpr uint kMaxChosen = 64;


METAL_FUNC float choice_of(MSL_DEVICE const float* logits, MSL_DEVICE const float* bias, uint e,
                           MSL_CONSTANT pagoda_args::RouteExperts& args) {
  if (args.is_sigmoid == 0) {
    return logits[e];
  }
  return sigmoid(logits[e]) + (args.has_bias != 0 ? bias[e] : 0.0f);
}
# 19 "Shaders/route_experts.metal"
METAL_FUNC uint best_groups(MSL_DEVICE const float* logits, MSL_DEVICE const float* bias, uint lane,
                            MSL_CONSTANT pagoda_args::RouteExperts& args) {
  const uint size = args.num_experts / args.num_groups;
  float first = kNegBig;
  float second = kNegBig;
  const uint group = lane < args.num_groups ? lane : 0;
  for (uint e = group * size; MSL_LOOP(e < (group + 1) * size); ++e) {
    const float value = choice_of(logits, bias, e, args);
    second = max(second, min(first, value));
    first = max(first, value);
  }
  const uint key = key_of(args.is_sigmoid != 0 ? first + second : first);
  bool is_left = lane < args.num_groups;
  uint kept = 0;
  for (uint i = 0; MSL_LOOP(i < args.groups_per_token); ++i) {
    const uint best = simd_max(is_left ? key : 0u);
    const uint winner = simd_min(is_left && key == best ? lane : 32u);
    kept |= 1u << winner;
    is_left = is_left && lane != winner;
  }
  return kept;
}
# 45 "Shaders/route_experts.metal"
MSL_KERNEL void route_experts(MSL_DEVICE const float* logits ,
                          MSL_DEVICE const float* bias ,
                          MSL_DEVICE int* ids ,
                          MSL_DEVICE float* weights ,
                          MSL_CONSTANT pagoda_args::RouteExperts& args ,
                          uint token ,
                          uint lane ) {
  MSL_TG_VAR(1, chosen, [kMaxChosen], float)
  MSL_DEVICE const float* from = logits + long(token) * args.logits_stride;
  const uint group_size = args.num_experts / args.num_groups;
  uint kept = 1;

  if (args.num_groups > 1) {
    kept = best_groups(from, bias, lane, args);
  }
  uint last_key = 0xffffffffu;
  int last = -1;
  for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
    uint best = 0;
    int found = int(args.num_experts);
    for (int e = int(lane); MSL_LOOP(e < int(args.num_experts)); e += 32) {
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
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      sum += sigmoid(chosen[j]);
    }
    for (uint j = lane; MSL_LOOP(j < args.chosen); j += 32) {
      const float share = sigmoid(chosen[j]);
      weights[long(token) * args.weights_stride + j] = (args.normalise != 0 ? share / sum : share) * args.scale;
    }
    return;
  }
  const float largest = chosen[0];
  float sum = 0.0f;
  if (args.normalise != 0) {
    for (uint j = 0; MSL_LOOP(j < args.chosen); ++j) {
      sum += precise::exp(chosen[j] - largest);
    }
  } else {
    for (uint e = lane; MSL_LOOP(e < args.num_experts); e += 32) {
      sum += precise::exp(from[e] - largest);
    }
    sum = simd_sum(sum);
  }
  for (uint j = lane; MSL_LOOP(j < args.chosen); j += 32) {
    weights[long(token) * args.weights_stride + j] = precise::exp(chosen[j] - largest) / sum * args.scale;
  }
}
# 1 "route_experts.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"logits", 0, BindingKind::buffer, sizeof(float), false}, {"bias", 1, BindingKind::buffer, sizeof(float), false}, {"ids", 2, BindingKind::buffer, sizeof(int), true}, {"weights", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::RouteExperts), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; route_experts((const float*)in.buffers[0], (const float*)in.buffers[1], (int*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::RouteExperts*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"route_experts", "route_experts", msl_bindings_0, {}, 32, msl_entry_0},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> route_experts_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
