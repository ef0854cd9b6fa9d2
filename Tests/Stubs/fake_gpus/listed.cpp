// Which devices a machine lists, and what `auto` says, on a fake of Metal with one GPU: listed FAMILY [list].
// FAMILY: the newest that the GPU supports, 0 for no GPU; with `list` the system names it in its list only.
// Tools/checks/metal_types.sh runs it, also with planted faults. Prints a line per failure and ends with their number.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device/cpu/cpu_device.h"
#include "device/gpu/gpu_device.h"
#include "device/gpu/kernel_table.h"
#include "device/gpu/metal/metal_api.h"
#include "device/reference/reference_device.h"
#include "device/registry.h"
#include "device/self_test.h"
#include "runtime.h"

namespace {

bool has_gpu = true, is_only_in_list = false;
std::string why_cpu;  // what `auto` gives as the reason for the CPU

}  // namespace

extern "C" void* MTLCreateSystemDefaultDevice() {
  return has_gpu && !is_only_in_list ? fake::world().make("device") : nullptr;
}
extern "C" void* MTLCopyAllDevices() { return has_gpu ? fake::world().make("devices") : nullptr; }

// What the registry and the backend need of the rest of the core.
namespace pagoda::device {
Status self_test(Device&, Device&) { return ok_status(); }
namespace cpu {
Result<std::unique_ptr<Device>> make_cpu_device(const std::string&, int, const std::string& note) {
  why_cpu = note;
  return make_error(StatusCode::internal, "no CPU here");
}
std::vector<std::string> supported_isas() { return {}; }
}  // namespace cpu
namespace reference {
Result<std::unique_ptr<Device>> make_reference_device() { return make_error(StatusCode::internal, "no reference"); }
}  // namespace reference
namespace gpu {
std::unique_ptr<Device> make_gpu_device(std::unique_ptr<Backend> backend) {
  if (backend->info().description != "Metal on " + fake::world().device_name) std::puts("FAIL another GPU");
  return nullptr;
}
std::string metal_kernels_version() { return "1"; }
namespace generated {
std::span<const KernelFile> files() noexcept { return {}; }
std::span<const KernelHeader> headers() noexcept { return {}; }
}  // namespace generated
}  // namespace gpu
}  // namespace pagoda::device

int main(int argc, char** argv) {
  using namespace pagoda::device;
  const int family = std::atoi(argv[1]);
  has_gpu = family > 0;
  is_only_in_list = argc > 2;
  fake::world().newest_family = static_cast<uintptr_t>(family);
  fake::world().device_name = "Apple Paravirtual device";
  int num_failed = 0;
  const auto check = [&](bool holds, const std::string& what) {
    if (!holds) std::printf("FAIL family %d: %s\n", family, what.c_str());
    num_failed += !holds;
  };
  constexpr int kOldest = 1007;  // Apple7, the M1
  const std::vector<std::string> names = device_names();
  check((std::ranges::count(names, "metal") == 1) == (family >= kOldest), "listed or not");
  const auto made = make_device("metal", 1);
  check(made.is_ok() == (family >= kOldest), "opened or not");
  if (family < kOldest) {
    const std::string reason = has_gpu ? "metal: Apple Paravirtual device is older than the M1, which is needed"
                                       : "metal: this machine has no GPU that Metal knows";
    check(made.status.message == reason, "the reason is '" + made.status.message + "'");
    (void)make_device("auto", 1);
    check(why_cpu == reason, "`auto` says '" + why_cpu + "'");
  }
  return num_failed;
}
