// Finds kernels by name.
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu {

const KernelInfo* find_kernel(std::span<const KernelFile> files, std::string_view name) noexcept {
  for (const KernelFile& file : files)
    for (const KernelInfo& kernel : file.kernels)
      if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace pagoda::device::gpu
