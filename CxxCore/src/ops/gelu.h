// gelu_mul and scale_rows, checked as the operations of ops.h. unsupported on devices that do not have them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/gelu_ops.h"

namespace pagoda::ops {

Status gelu_mul(device::Encoder& encoder, const device::GeluMulArgs& args) noexcept;
Status scale_rows(device::Encoder& encoder, const device::ScaleRowsArgs& args) noexcept;

}  // namespace pagoda::ops
