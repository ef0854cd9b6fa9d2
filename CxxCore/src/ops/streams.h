// The ops of hyper-connections, checked like those in ops.h. They return unsupported on devices without them.
#pragma once

#include "base/result.h"
#include "device/device.h"
#include "device/stream_ops.h"

namespace pagoda::ops {

Status silu_rows(device::Encoder& encoder, const device::SiluRowsArgs& args) noexcept;
Status mix_streams(device::Encoder& encoder, const device::MixStreamsArgs& args) noexcept;
Status inject_streams(device::Encoder& encoder, const device::InjectStreamsArgs& args) noexcept;
Status gate_streams(device::Encoder& encoder, const device::GateStreamsArgs& args) noexcept;

}  // namespace pagoda::ops
