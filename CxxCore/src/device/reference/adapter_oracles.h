// The oracles of add_adapters and silu_mul.
#pragma once

#include "device/adapter_ops.h"

namespace pagoda::device::reference {

void add_adapters(const AdapterArgs&) noexcept;
void silu_mul(const SiluMulArgs&) noexcept;

}  // namespace pagoda::device::reference
