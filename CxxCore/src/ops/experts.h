// The operations of a mixture of experts, checked as those of ops.h. unsupported on devices that do not have them.
#pragma once

#include "base/result.h"
#include "device/expert_ops.h"

namespace pagoda::ops {

Status route_experts(device::Encoder& encoder, const device::RouteExpertsArgs& args) noexcept;
Status expert_matmul(device::Encoder& encoder, const device::ExpertMatmulArgs& args) noexcept;
Status combine_experts(device::Encoder& encoder, const device::CombineExpertsArgs& args) noexcept;

}  // namespace pagoda::ops
