// The oracles of layer_norm and gelu.
#pragma once

#include "device/vision_ops.h"

namespace pagoda::device::reference {

void layer_norm(const LayerNormArgs&) noexcept;
void gelu(const GeluArgs&) noexcept;

}  // namespace pagoda::device::reference
