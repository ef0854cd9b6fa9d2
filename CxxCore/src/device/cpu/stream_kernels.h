// The ops of hyper-connections on the CPU device: row ops, as in cpu_ops.h.
#pragma once

#include "device/cpu/context.h"
#include "device/stream_ops.h"

namespace pagoda::device::cpu {

void silu_rows(const Context& context, const SiluRowsArgs& args, int64_t t) noexcept;
void mix_streams(const Context& context, const MixStreamsArgs& args, int64_t t) noexcept;
void inject_streams(const Context& context, const InjectStreamsArgs& args, int64_t t) noexcept;
void gate_streams(const Context& context, const GateStreamsArgs& args, int64_t t) noexcept;

}  // namespace pagoda::device::cpu
