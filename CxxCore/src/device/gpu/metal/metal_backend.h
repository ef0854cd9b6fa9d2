// The Metal backend: one queue, one command buffer per step, launches that may overlap, with barriers where needed.
#pragma once

#include <memory>

#include "base/result.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu::metal {

// The system's GPU. unsupported if there is none, or if it is older than Apple7 (no simdgroup matrices).
Result<std::unique_ptr<Backend>> make_metal_backend();

}  // namespace pagoda::device::gpu::metal
