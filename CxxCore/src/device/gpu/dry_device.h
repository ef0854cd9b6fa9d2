// The dry device: encodes every launch as for a GPU and runs none. Launches, bytes and the time to encode can so be
// counted for models that this machine could not hold. Its results are zeros.
#pragma once

#include "device/optional_devices.h"

namespace pagoda::device::gpu {

OptionalDevice& dry_device() noexcept;          // "dry": launches one after the other, as on Metal
OptionalDevice& dry_overlap_device() noexcept;  // "dry:overlap": a launch may begin early, as on NVIDIA GPUs

}  // namespace pagoda::device::gpu
