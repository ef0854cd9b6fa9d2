// gelu_mul and scale_rows, checked like the ops in ops.h. They return unsupported on devices without them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/gelu_ops.h"

namespace pagoda::ops {

Status gelu_mul(device::Encoder& encoder, const device::GeluMulArgs& args) noexcept;
Status scale_rows(device::Encoder& encoder, const device::ScaleRowsArgs& args) noexcept;

}  // namespace pagoda::ops
