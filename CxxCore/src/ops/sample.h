// sample, checked like the ops in ops.h. Returns unsupported on devices without it.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/pick_ops.h"

namespace pagoda::ops {

Status sample(device::Encoder& encoder, const device::SampleArgs& args) noexcept;

}  // namespace pagoda::ops
