// argmax, checked as the ops of ops.h. unsupported on devices that do not have it.
#pragma once

#include "base/result.h"
#include "device/pick_ops.h"

namespace pagoda::ops {

Status argmax(device::Encoder& encoder, const device::ArgmaxArgs& args) noexcept;

}  // namespace pagoda::ops
