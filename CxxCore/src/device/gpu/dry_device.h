// The dry device: encodes every launch as for a GPU and runs none. This counts launches, bytes and encoding time for
// models that do not fit on this machine. Its results are zeros.
#pragma once

#include "device/optional_devices.h"

namespace pagoda::device::gpu {

OptionalDevice& dry_device() noexcept;          // "dry": launches one after another, as on Metal
OptionalDevice& dry_overlap_device() noexcept;  // "dry:overlap": a launch may start early, as on NVIDIA GPUs

}  // namespace pagoda::device::gpu
