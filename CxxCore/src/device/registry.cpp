// Creates devices by name.
#include "device/registry.h"

#include "device/cpu/cpu_device.h"
#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/metal/metal_backend.h"
#include "device/gpu/software/software_backend.h"
#include "device/reference/reference_device.h"

namespace pagoda::device {
namespace {

Result<std::unique_ptr<Device>> make_software_device(int num_threads) {
  gpu::software::Options options = gpu::software::installed_options();
  options.num_threads = num_threads;
  auto backend = gpu::software::SoftwareBackend::create(options);
  if (!backend.is_ok()) return backend.status;
  return gpu::make_gpu_device(std::move(*backend));
}

Result<std::unique_ptr<Device>> make_metal_device() {
  auto backend = gpu::metal::make_metal_backend();
  if (!backend.is_ok()) return backend.status;
  return gpu::make_gpu_device(std::move(*backend));
}

Result<std::unique_ptr<Device>> make_cuda_device() {
  auto backend = gpu::cuda::make_cuda_backend();
  if (!backend.is_ok()) return backend.status;
  return gpu::make_gpu_device(std::move(*backend));
}

}  // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> names = {"cpu"};
  for (const std::string& isa : cpu::supported_isas()) names.push_back("cpu:" + isa);
#ifdef __APPLE__
  names.push_back("metal");
#endif
  names.push_back("software");
  if (gpu::cuda::has_cuda()) names.push_back("cuda");
  names.push_back("reference");
  return names;
}

Result<std::unique_ptr<Device>> make_device(const std::string& name, int num_threads) {
  if (name == "auto" || name == "cpu") return cpu::make_cpu_device("", num_threads);
  if (name == "metal") return make_metal_device();
  if (name == "software") return make_software_device(num_threads);
  if (name == "cuda") return make_cuda_device();  // if unavailable, the error says what is missing
  std::string known = "auto";
  for (const std::string& other : device_names()) {
    if (name == other)
      return name == "reference" ? reference::make_reference_device()
                                 : cpu::make_cpu_device(name.substr(4), num_threads);
    known += ", " + other;
  }
  return make_error(StatusCode::invalid_argument, "no device named '" + name + "' on this machine; known are " + known);
}

}  // namespace pagoda::device
