// All files of kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> defects_kernels() noexcept; KernelSource defects_source() noexcept;
std::span<const KernelInfo> intrinsics_math_kernels() noexcept; KernelSource intrinsics_math_source() noexcept;
std::span<const KernelInfo> intrinsics_matrix_kernels() noexcept; KernelSource intrinsics_matrix_source() noexcept;
std::span<const KernelInfo> intrinsics_simd_kernels() noexcept; KernelSource intrinsics_simd_source() noexcept;
std::span<const KernelFile> test_files() noexcept {
  static const KernelFile kFiles[] = {
    {defects_kernels(), defects_source()},
    {intrinsics_math_kernels(), intrinsics_math_source()},
    {intrinsics_matrix_kernels(), intrinsics_matrix_source()},
    {intrinsics_simd_kernels(), intrinsics_simd_source()},
  };
  return kFiles;
}
}  // namespace pagoda::device::gpu::generated
