// The Metal backend: one queue, one command buffer a step, launches that may overlap with barriers where they must not.
#pragma once

#include <memory>

#include "base/result.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu::metal {

// The system's GPU. unsupported where there is none, or it is older than Apple7 (no simdgroup matrices).
Result<std::unique_ptr<Backend>> make_metal_backend();

}  // namespace pagoda::device::gpu::metal
