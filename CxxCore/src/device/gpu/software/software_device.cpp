// Registers the software device and the dry device as optional devices; Sources/SoftwareDevice adds them to a program.
#include "base/assign_or_return.h"
#include "device/gpu/dry_device.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/software/software_backend.h"
#include "device/optional_devices.h"
#include "pagoda_gpu.h"

namespace pagoda::device::gpu::software {
namespace {

Result<std::unique_ptr<Device>> make(int num_threads) {
  Options options = installed_options();
  options.num_threads = num_threads;
  PAGODA_ASSIGN_OR_RETURN(auto backend, SoftwareBackend::create(options));
  return make_gpu_device(std::move(backend));
}

OptionalDevice device{"software", make, [] { return true; }, nullptr, nullptr};

}  // namespace
}  // namespace pagoda::device::gpu::software

// Not in builds whose tables omit its kernels.
extern "C" void pagoda_add_software_device() noexcept {
  using namespace pagoda::device;
  if (gpu::kIsMetalOnly) return;
  add_optional_device(gpu::software::device);
  add_optional_device(gpu::dry_device());
  add_optional_device(gpu::dry_overlap_device());
}
