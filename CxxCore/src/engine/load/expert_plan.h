// Plans the memory of a model whose experts may stay in their files.
#pragma once

#include <functional>

#include "base/result.h"
#include "device/device.h"
#include "model/model.h"
#include "pagoda/model_info.h"
#include "pagoda/options.h"

namespace pagoda::engine {

// `plan` plans everything else beside weights of that many bytes. With options.expert_memory_bytes that much is for
// experts; otherwise all of them if they fit, and if not, on devices that can read experts during a step, what the rest
// leaves of `limit_bytes`.
Result<MemoryPlan> plan_experts(const EngineOptions& options, const model::WeightsSummary& weights,
                                const device::Device& device,
                                const std::function<Result<MemoryPlan>(int64_t weights_bytes)>& plan,
                                int64_t limit_bytes = 0);  // 0: the device's

}  // namespace pagoda::engine
