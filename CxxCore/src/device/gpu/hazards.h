// HazardTracker: determines where a step needs barriers. Launches that touch different memory, or only read the same,
// may run concurrently; one that reads or writes what an earlier one wrote, or writes what it read, must wait for it.
// State: the memory touched since the last barrier. One tracker for each queue; thread rule as Backend's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu {

// A range of memory that a launch touches: bytes [begin, end) of a buffer.
struct Access {
  const Buffer* buffer = nullptr;
  int64_t begin = 0, end = 0;
  bool written = false;
};

class HazardTracker {
 public:
  // Whether this launch needs a barrier before it. Afterwards it counts as one of the launches since the last barrier.
  bool needs_barrier(std::span<const Access> accesses);
  bool needs_barrier(const KernelInfo& kernel, std::span<const Binding> bindings);
  // A new step, or a barrier for another reason: everything before it is done.
  void clear() noexcept { touched_.clear(); }

 private:
  std::vector<Access> touched_, scratch_;
};

}  // namespace pagoda::device::gpu
