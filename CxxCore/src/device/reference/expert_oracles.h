// Oracles of the expert ops: plain loops with double-precision sums. Single threaded, for tests.
#pragma once

#include "device/expert_ops.h"

namespace pagoda::device::reference {

void route_experts(const RouteExpertsArgs& args) noexcept;
void expert_matmul(const ExpertMatmulArgs& args) noexcept;
void combine_experts(const CombineExpertsArgs& args) noexcept;

}  // namespace pagoda::device::reference
