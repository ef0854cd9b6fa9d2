// The GPU device: a backend's memory, and the encoder that launches kernels on it.
#pragma once

#include <memory>

#include "device/device.h"
#include "device/gpu/backend.h"

namespace pagoda::device::gpu {

std::unique_ptr<Device> make_gpu_device(std::unique_ptr<Backend> backend);

}  // namespace pagoda::device::gpu
