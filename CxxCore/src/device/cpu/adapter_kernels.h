// add_adapters and silu_mul of the CPU device.
#pragma once

#include "device/adapter_ops.h"
#include "device/cpu/context.h"

namespace pagoda::device::cpu {

void add_adapters(const Context& context, const AdapterArgs& args) noexcept;
void silu_mul(const Context& context, const SiluMulArgs& args) noexcept;

}  // namespace pagoda::device::cpu
