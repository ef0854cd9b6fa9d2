// Versions of the kernels, which key the cached verdicts on a GPU: a hash of their sources and of the system's version.
// Drivers are part of the system or report a version of their own.
#pragma once

#include <string>

namespace pagoda::device::gpu {

std::string metal_kernels_version();
std::string cuda_kernels_version();

}  // namespace pagoda::device::gpu
