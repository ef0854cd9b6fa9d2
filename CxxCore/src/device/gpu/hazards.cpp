// Compares the memory of a launch with that of the launches since the last barrier.
#include "device/gpu/hazards.h"

namespace pagoda::device::gpu {

namespace {

bool conflict(const Access& a, const Access& b) noexcept {
  return (a.written || b.written) && a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}

}  // namespace

bool HazardTracker::needs_barrier(std::span<const Access> accesses) {
  bool found = false;
  for (const Access& access : accesses)
    for (const Access& earlier : touched_) found |= conflict(access, earlier);
  if (found) clear();
  touched_.insert(touched_.end(), accesses.begin(), accesses.end());
  return found;
}

bool HazardTracker::needs_barrier(const KernelInfo& kernel, std::span<const Binding> bindings) {
  scratch_.clear();
  for (const Binding& binding : bindings) {
    if (!binding.buffer) continue;
    for (const BindingInfo& info : kernel.bindings) {
      if (info.index != binding.index) continue;
      const int64_t size = static_cast<int64_t>(binding.buffer->size_bytes());
      const int64_t end = binding.size_bytes ? binding.offset_bytes + static_cast<int64_t>(binding.size_bytes) : size;
      scratch_.push_back({binding.buffer, binding.offset_bytes, end, info.written});
    }
  }
  return needs_barrier(scratch_);
}

}  // namespace pagoda::device::gpu
