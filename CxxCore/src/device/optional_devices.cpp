// The list of added devices; constant-initialised, because it is used by initialisers of other files.
#include "device/optional_devices.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace pagoda::device {
namespace {

constinit std::mutex mutex;
constinit const OptionalDevice* last = nullptr;

}  // namespace

void add_optional_device(OptionalDevice& device) noexcept {
  const std::lock_guard lock(mutex);
  for (const OptionalDevice* existing = last; existing != nullptr; existing = existing->next)
    if (existing == &device) return;
  device.next = last;
  last = &device;
}

std::vector<const OptionalDevice*> optional_devices() {
  std::vector<const OptionalDevice*> devices;
  const std::lock_guard lock(mutex);
  for (const OptionalDevice* device = last; device != nullptr; device = device->next) devices.push_back(device);
  std::sort(devices.begin(), devices.end(), [](auto* a, auto* b) { return std::strcmp(a->name, b->name) < 0; });
  return devices;
}

}  // namespace pagoda::device
