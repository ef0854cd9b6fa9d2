// Creates the CPU device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace pagoda::device::cpu {

// isa: portable, avx2, avx512, avx512vnni, avx512bf16, amx, neon, neon-dotprod, neon-i8mm, or "" for the fastest;
// num_threads 0 = one per core.
// `note` is appended to the description.
Result<std::unique_ptr<Device>> make_cpu_device(const std::string& isa, int num_threads, const std::string& note = "");

std::vector<std::string> supported_isas();  // fastest first

}  // namespace pagoda::device::cpu
