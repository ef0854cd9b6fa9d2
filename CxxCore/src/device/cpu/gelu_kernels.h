// gelu_mul and scale_rows of the CPU device.
#pragma once

#include "device/cpu/context.h"
#include "device/gelu_ops.h"

namespace pagoda::device::cpu {

void gelu_mul(const Context& context, const GeluMulArgs& args) noexcept;
void scale_rows(const Context& context, const ScaleRowsArgs& args) noexcept;

}  // namespace pagoda::device::cpu
