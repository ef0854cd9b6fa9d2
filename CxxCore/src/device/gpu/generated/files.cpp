// All files of kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> rms_norm_kernels() noexcept;
KernelSource rms_norm_source() noexcept;
std::span<const KernelFile> files() noexcept {
  static const KernelFile kFiles[] = {
    {rms_norm_kernels(), rms_norm_source()},
  };
  return kFiles;
}
}  // namespace pagoda::device::gpu::generated
