// add_adapters and silu_mul, checked like the ops in ops.h.
#pragma once

#include "base/result.h"
#include "device/adapter_ops.h"
#include "device/device.h"

namespace pagoda::ops {

Status add_adapters(device::Encoder& encoder, const device::AdapterArgs& args) noexcept;
Status silu_mul(device::Encoder& encoder, const device::SiluMulArgs& args) noexcept;

}  // namespace pagoda::ops
