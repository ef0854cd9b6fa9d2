// The oracle of kda.
#pragma once

#include "device/kda_ops.h"

namespace pagoda::device::reference {

void kda(const KdaArgs& args) noexcept;

}  // namespace pagoda::device::reference
