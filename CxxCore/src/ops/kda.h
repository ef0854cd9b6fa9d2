// kda, checked as the operations of ops.h. unsupported on devices that do not have it.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/kda_ops.h"

namespace pagoda::ops {

Status kda(device::Encoder& encoder, const device::KdaArgs& args) noexcept;

}  // namespace pagoda::ops
