// argmax, checked like the ops in ops.h. Returns unsupported on devices without it.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/pick_ops.h"

namespace pagoda::ops {

Status argmax(device::Encoder& encoder, const device::ArgmaxArgs& args) noexcept;

}  // namespace pagoda::ops
