// Mixture-of-experts ops, checked like those in ops.h. They return unsupported on devices without them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/expert_ops.h"

namespace pagoda::ops {

Status route_experts(device::Encoder& encoder, const device::RouteExpertsArgs& args) noexcept;
Status expert_matmul(device::Encoder& encoder, const device::ExpertMatmulArgs& args) noexcept;
Status combine_experts(device::Encoder& encoder, const device::CombineExpertsArgs& args) noexcept;

}  // namespace pagoda::ops
