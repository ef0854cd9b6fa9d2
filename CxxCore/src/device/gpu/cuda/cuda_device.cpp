// Registers CUDA as an optional device; Sources/CUDADevice adds it to a program.
#include "base/assign_or_return.h"
#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/kernels_version.h"
#include "device/optional_devices.h"
#include "pagoda_gpu.h"

namespace pagoda::device::gpu::cuda {
namespace {

Result<std::unique_ptr<Device>> make(int) {
  PAGODA_ASSIGN_OR_RETURN(auto backend, make_cuda_backend());
  return make_gpu_device(std::move(backend));
}

OptionalDevice device{"cuda", make, has_cuda, has_cuda_gpu, cuda_kernels_version};

}  // namespace
}  // namespace pagoda::device::gpu::cuda

// Not in builds whose tables omit its kernel sources.
extern "C" void pagoda_add_cuda_device() noexcept {
  if (!pagoda::device::gpu::kIsMetalOnly) pagoda::device::add_optional_device(pagoda::device::gpu::cuda::device);
}
