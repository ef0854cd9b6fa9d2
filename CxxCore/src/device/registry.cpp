// Creates devices by name.
#include "device/registry.h"

#include "base/assign_or_return.h"
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

#ifdef PAGODA_METAL  // elsewhere nothing refers to the GPU device
Result<std::unique_ptr<Device>> make_metal_device(int) {
  PAGODA_ASSIGN_OR_RETURN(auto backend, gpu::metal::make_metal_backend());
  return gpu::make_gpu_device(std::move(backend));
}

// Every Apple system has Metal; the GPU of a virtual machine may be too old for the kernels.
bool has_metal_gpu() {
  static const bool has = make_metal_device(1).is_ok();
  return has;
}
const OptionalDevice metal{"metal", make_metal_device, has_metal_gpu, [] { return true; }, gpu::metal_kernels_version};
#endif

std::vector<const OptionalDevice*> devices_beside_the_cpu() {
  std::vector<const OptionalDevice*> devices = optional_devices();
#ifdef PAGODA_METAL
  devices.insert(devices.begin(), &metal);
#endif
  return devices;
}

// The first GPU that is usable, otherwise the CPU, whose description then says why.
Result<std::unique_ptr<Device>> make_auto_device(int num_threads, const KernelNeeds& needs) {
  std::vector<AutoCandidate> candidates;
  for (const OptionalDevice* device : devices_beside_the_cpu())
    if (device->has_driver && device->has_driver())
      candidates.push_back({device->name, [=] { return device->make(num_threads); }, device->version()});
  const auto make_cpu = [num_threads] { return cpu::make_cpu_device("", num_threads); };
  AutoChoice choice =
      choose_device(candidates, make_cpu, {.verdict_folder = user_cache_folder("devices"), .needs = needs});
  if (choice.device) return std::move(choice.device);
  return cpu::make_cpu_device("", num_threads, choice.reason);
}

// How to add an optional device to a program; "" for other names.
std::string advice_on(const std::string& name) {
  if (name == "metal") return "only Apple systems have it";
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
  for (const OptionalDevice* device : devices_beside_the_cpu())
    if (device->is_there()) names.push_back(device->name);
  names.push_back("reference");
  return names;
}

Result<std::unique_ptr<Device>> make_device(const std::string& name, int num_threads, const KernelNeeds& needs) {
  if (name == "auto") return make_auto_device(num_threads, needs);
  if (name == "cpu") return cpu::make_cpu_device("", num_threads);
  for (const OptionalDevice* device : devices_beside_the_cpu())
    if (name == device->name) return device->make(num_threads);
  std::string known = "auto";
  for (const std::string& other : device_names()) {
    if (name == other)
      return name == "reference" ? reference::make_reference_device()
                                 : cpu::make_cpu_device(name.substr(4), num_threads);
    known += ", " + other;
  }
  if (const std::string advice = advice_on(name); !advice.empty())
    return make_field_error(StatusCode::unsupported, "device",
                            "this program was built without the device '" + name + "': " + advice);
  return make_field_error(StatusCode::invalid_argument, "device",
                          "no device named '" + name + "' on this machine; known are " + known);
}

}  // namespace pagoda::device
