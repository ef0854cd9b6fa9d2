// Chooses the memory for experts.
#include "engine/load/expert_plan.h"

#include <algorithm>
#include <numeric>

#include "base/assign_or_return.h"
#include "base/concat.h"

namespace pagoda::engine {
namespace {

// Checks a choice of the caller, and limits it to what can be used.
Result<int64_t> chosen_bytes(const EngineOptions& options, const model::WeightsSummary& weights,
                             const device::Device& device, int64_t least) {
  if (weights.expert_bytes == 0)
    return make_field_error(StatusCode::unsupported, "expert_memory_bytes",
                            "expert_memory_bytes needs a model with a mixture of experts");
  if (!device.streams_experts())
    return make_field_error(StatusCode::unsupported, "expert_memory_bytes",
                            concat("expert_memory_bytes: the device ", device.info().name,
                                   " keeps all experts in its memory; the device cpu can read them "
                                   "from the files"));
  if (options.expert_memory_bytes < least)
    return make_field_error(StatusCode::out_of_memory, "expert_memory_bytes",
                            concat("expert_memory_bytes of ", options.expert_memory_bytes,
                                   " bytes is less than one expert of every size, which takes ", least, " bytes"));
  return std::min(options.expert_memory_bytes, weights.expert_bytes);
}

}  // namespace

Result<MemoryPlan> plan_experts(const EngineOptions& options, const model::WeightsSummary& weights,
                                const device::Device& device,
                                const std::function<Result<MemoryPlan>(int64_t weights_bytes)>& plan,
                                int64_t limit_bytes) {
  constexpr int64_t kSlotPadding = 64;
  const auto& sizes = weights.expert_sizes;
  const int64_t rest = weights.size_bytes - weights.expert_bytes;
  const int64_t least = std::accumulate(sizes.begin(), sizes.end(), kSlotPadding * std::ssize(sizes));
  const auto finish = [&](MemoryPlan& made, int64_t memory_bytes) {
    made.weights_bytes = rest + (memory_bytes > 0 ? memory_bytes : weights.expert_bytes);
    made.expert_memory_bytes = memory_bytes;
    made.expert_bytes = weights.expert_bytes;
    made.expert_token_bytes = weights.expert_token_bytes;
  };
  if (options.expert_memory_bytes > 0) {
    PAGODA_ASSIGN_OR_RETURN(const int64_t memory_bytes, chosen_bytes(options, weights, device, least));
    PAGODA_ASSIGN_OR_RETURN(MemoryPlan made, plan(rest + memory_bytes));
    finish(made, memory_bytes);
    return made;
  }
  Result<MemoryPlan> all = plan(weights.size_bytes);
  const bool may_stream = weights.expert_bytes > 0 && device.streams_experts() && options.pipeline.empty();
  if (all.is_ok()) finish(*all, 0);
  if (all.is_ok() || all.status.code != StatusCode::out_of_memory || !may_stream) return all;
  // Half of what is left is for experts at least: the default size of the KV cache is a share of the rest.
  if (limit_bytes == 0) limit_bytes = device.info().memory_limit_bytes;
  const int64_t half = std::clamp((limit_bytes - rest) / 2, least, std::max(least, weights.expert_bytes));
  Result<MemoryPlan> made = plan(rest + half);
  if (!made.is_ok()) return all;
  finish(*made, std::min(weights.expert_bytes, half + limit_bytes - made->total_bytes()));
  return made;
}

}  // namespace pagoda::engine
