// Versions of the kernels, as keys of the verdicts on a GPU: texts on this system, whose drivers come with it or name
// themselves.
#pragma once

#include <string>

namespace pagoda::device::gpu {

std::string metal_kernels_version();
std::string cuda_kernels_version();

}  // namespace pagoda::device::gpu
