// layer_norm and gelu, checked like the ops in ops.h. They return unsupported on devices without them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/vision_ops.h"

namespace pagoda::ops {

Status layer_norm(device::Encoder& encoder, const device::LayerNormArgs& args) noexcept;
Status gelu(device::Encoder& encoder, const device::GeluArgs& args) noexcept;

}  // namespace pagoda::ops
