// kda, checked like the ops in ops.h. Returns unsupported on devices without it.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/kda_ops.h"

namespace pagoda::ops {

Status kda(device::Encoder& encoder, const device::KdaArgs& args) noexcept;

}  // namespace pagoda::ops
