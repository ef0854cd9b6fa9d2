// Creates the reference device: the oracle that every other device is compared with.
#pragma once

#include <memory>

#include "device/device.h"

namespace pagoda::device::reference {

Result<std::unique_ptr<Device>> make_reference_device();

}  // namespace pagoda::device::reference
