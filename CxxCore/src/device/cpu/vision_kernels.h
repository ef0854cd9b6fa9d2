// Rows of layer_norm and gelu of the CPU device.
#pragma once

#include "device/cpu/context.h"
#include "device/vision_ops.h"

namespace pagoda::device::cpu {

void layer_norm(const LayerNormArgs& args, int64_t row) noexcept;
void gelu(const Context& context, const GeluArgs& args, int64_t row) noexcept;

}  // namespace pagoda::device::cpu
