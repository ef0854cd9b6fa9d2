// Measures the limits of a device that runs kernels: copies and matrix products, with its own kernels.
#pragma once

#include <string>

#include "device/device.h"
#include "pagoda/bench.h"

namespace pagoda::bench {

MachineLimits measure_device(const std::string& name, int32_t num_threads);
MachineLimits measure_device(device::Device& device);

}  // namespace pagoda::bench
