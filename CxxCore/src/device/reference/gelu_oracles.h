// The oracles of gelu_mul and scale_rows.
#pragma once

#include "device/gelu_ops.h"

namespace pagoda::device::reference {

void gelu_mul(const GeluMulArgs&) noexcept;
void scale_rows(const ScaleRowsArgs&) noexcept;

}  // namespace pagoda::device::reference
