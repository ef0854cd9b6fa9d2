// Creates devices by name.
#include "device/registry.h"

#include "base/cache_folder.h"
#include "device/auto_device.h"
#include "device/cpu/cpu_device.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/kernels_version.h"
#include "device/gpu/metal/enabled.h"
#include "device/gpu/metal/metal_backend.h"
#include "device/optional_devices.h"
#include "device/reference/reference_device.h"

namespace pagoda::device {
namespace {

Result<std::unique_ptr<Device>> make_metal_device() {
  auto backend = gpu::metal::make_metal_backend();
#ifdef PAGODA_METAL  // elsewhere nothing refers to the GPU device
  if (backend.is_ok()) return gpu::make_gpu_device(std::move(*backend));
#endif
  return backend.status;
}

// The GPU that passes its self-test, otherwise the CPU, whose description then says why.
Result<std::unique_ptr<Device>> make_auto_device(int num_threads) {
  std::vector<AutoCandidate> candidates;
#ifdef PAGODA_METAL
  candidates.push_back({"metal", make_metal_device, gpu::metal_kernels_version()});
#endif
  for (const OptionalDevice* device : optional_devices())
    if (device->version)
      candidates.push_back({device->name, [=] { return device->make(num_threads); }, device->version()});
  const auto make_cpu = [num_threads] { return cpu::make_cpu_device("", num_threads); };
  AutoChoice choice = choose_device(candidates, make_cpu, {.verdict_folder = user_cache_folder("cuda")});
  if (choice.device) return std::move(choice.device);
  return cpu::make_cpu_device("", num_threads, choice.reason);
}

// How to add an optional device to a program; "" for other names.
std::string advice_on(const std::string& name) {
  if (name != "cuda" && name != "software") return "";
#ifdef PAGODA_METAL_ONLY
  return "release builds for Apple platforms have none";
#else
  return std::string("its package has to use the product ") + (name == "cuda" ? "PagodaCUDA" : "PagodaSoftwareDevice");
#endif
}

}  // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> names = {"cpu"};
  for (const std::string& isa : cpu::supported_isas()) names.push_back("cpu:" + isa);
#ifdef __APPLE__
  names.push_back("metal");
#endif
  for (const OptionalDevice* device : optional_devices())
    if (device->is_there()) names.push_back(device->name);
  names.push_back("reference");
  return names;
}

Result<std::unique_ptr<Device>> make_device(const std::string& name, int num_threads) {
  if (name == "auto") return make_auto_device(num_threads);
  if (name == "cpu") return cpu::make_cpu_device("", num_threads);
  if (name == "metal") return make_metal_device();
  for (const OptionalDevice* device : optional_devices())
    if (name == device->name) return device->make(num_threads);
  std::string known = "auto";
  for (const std::string& other : device_names()) {
    if (name == other)
      return name == "reference" ? reference::make_reference_device()
                                 : cpu::make_cpu_device(name.substr(4), num_threads);
    known += ", " + other;
  }
  if (const std::string advice = advice_on(name); !advice.empty())
    return make_error(StatusCode::unsupported, "this program was built without the device '" + name + "': " + advice);
  return make_error(StatusCode::invalid_argument, "no device named '" + name + "' on this machine; known are " + known);
}

}  // namespace pagoda::device
