// The instruction sets this machine supports, best first.
#pragma once

#include <string>
#include <vector>

#include "device/cpu/kernels.h"

namespace pagoda::device::cpu {

// Every kernel table this machine can run, the fastest first and `portable` last.
std::vector<const Kernels*> supported_kernels();

const Kernels* find_kernels(const std::string& name);  // null when unknown or not runnable here; "" = the fastest

}  // namespace pagoda::device::cpu
