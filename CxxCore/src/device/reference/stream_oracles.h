// The oracles of hyper-connections.
#pragma once

#include "device/stream_ops.h"

namespace pagoda::device::reference {

void silu_rows(const SiluRowsArgs&) noexcept;
void mix_streams(const MixStreamsArgs&) noexcept;
void inject_streams(const InjectStreamsArgs&) noexcept;
void gate_streams(const GateStreamsArgs&) noexcept;

}  // namespace pagoda::device::reference
