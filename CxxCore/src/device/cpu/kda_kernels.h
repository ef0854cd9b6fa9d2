// kda of the CPU device.
#pragma once

#include "device/cpu/context.h"
#include "device/kda_ops.h"

namespace pagoda::device::cpu {

void kda(const Context& context, const KdaArgs& args) noexcept;

}  // namespace pagoda::device::cpu
