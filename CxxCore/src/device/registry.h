// The device registry: the only file that names concrete devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/support.h"

namespace pagoda::device {

// name: auto (a GPU that passes its self-test and has the kernels that `needs` names, else the CPU), cpu, metal, cuda,
// software (GPU kernels on the host), reference; for tests, cpu takes a suffix that forces a code path (cpu:portable,
// cpu:avx2, cpu:avx512, cpu:avx512vnni, cpu:avx512bf16, cpu:amx, cpu:neon, cpu:neon-dotprod, cpu:neon-i8mm).
// num_threads 0 = one per core. Unknown names fail with invalid_argument and list the known ones.
Result<std::unique_ptr<Device>> make_device(const std::string& name, int num_threads, const KernelNeeds& needs = {});

std::vector<std::string> device_names();  // every name that works on this machine, including forced code paths

}  // namespace pagoda::device
