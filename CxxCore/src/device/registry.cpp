// Creates devices by name.
#include "device/registry.h"

#include <sys/utsname.h>

#include "base/hash128.h"
#include "device/auto_device.h"
#include "device/cpu/cpu_device.h"
#include "device/gpu/cuda/code_cache.h"
#include "device/gpu/cuda/cuda_backend.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/kernel_table.h"
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

// The key of a verdict on a GPU: these kernels on this system, whose drivers come with it or name themselves.
std::string kernels_version() {
  Hash128 hash;
  for (const gpu::KernelFile& file : gpu::generated::files()) hash.add(file.source.metal), hash.add(file.source.cuda);
  for (const auto& headers : {gpu::generated::metal_headers(), gpu::generated::cuda_headers()})
    for (const gpu::KernelHeader& header : headers) hash.add(header.text);
  utsname system{};
  if (uname(&system) == 0) hash.add(std::string_view(system.release));
  return hash.value().text();
}

// The GPU that passes its self-test, else the CPU, whose description then says why.
Result<std::unique_ptr<Device>> make_auto_device(int num_threads) {
  const std::string version = kernels_version();
  std::vector<AutoCandidate> candidates;
#ifdef __APPLE__
  candidates.push_back({"metal", make_metal_device, version});
#endif
  candidates.push_back({"cuda", make_cuda_device, version});
  const auto make_cpu = [num_threads] { return cpu::make_cpu_device("", num_threads); };
  AutoChoice choice = choose_device(candidates, make_cpu, {.verdict_folder = gpu::cuda::CodeCache::user_folder()});
  if (choice.device) return std::move(choice.device);
  return cpu::make_cpu_device("", num_threads, choice.reason);
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
  if (name == "auto") return make_auto_device(num_threads);
  if (name == "cpu") return cpu::make_cpu_device("", num_threads);
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
