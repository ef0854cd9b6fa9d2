// Keeps the launches of a step in three flat lists, which are reused from step to step.
#include "device/gpu/metal/launch_record.h"

#include <cstring>

namespace pagoda::device::gpu::metal {
namespace {

constexpr size_t kAlignment = 16;

}  // namespace

void LaunchRecord::clear() noexcept {
  launches_.clear();
  slots_.clear();
  values_.clear();
}

void LaunchRecord::add(const Launch& launch) {
  Kept kept{.launch = launch, .first_binding = slots_.size(), .num_bindings = launch.bindings.size()};
  kept.launch.bindings = {};
  for (const Binding& binding : launch.bindings) {
    Slot slot{.binding = binding, .first_value = (values_.size() + kAlignment - 1) / kAlignment * kAlignment};
    if (binding.buffer == nullptr) {
      values_.resize(slot.first_value + binding.size_bytes);
      std::memcpy(values_.data() + slot.first_value, binding.values, binding.size_bytes);
      slot.binding.values = nullptr;
    }
    slots_.push_back(slot);
  }
  launches_.push_back(kept);
}

}  // namespace pagoda::device::gpu::metal
