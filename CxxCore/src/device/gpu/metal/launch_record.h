// LaunchRecord: the launches of a step, kept so that the same step can be encoded again while the GPU runs it: the next
// token's step is then ready when this one ends. State: one step; thread rule as Backend's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/gpu/backend.h"
#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu::metal {

class LaunchRecord {
 public:
  struct Launch {
    const Pipeline* pipeline = nullptr;
    Size3 groups, threads;
    bool begins_part = false, needs_barrier = false;  // before it
    std::span<const Binding> bindings;                // at most kMaxBindings

    uint64_t num_threads() const noexcept {
      return uint64_t{groups.x} * groups.y * groups.z * (uint64_t{threads.x} * threads.y * threads.z);
    }
  };

  void clear() noexcept;
  // Copies the bindings and the values that they point to.
  void add(const Launch& launch);
  bool is_empty() const noexcept { return launches_.empty(); }

  // Calls encode(const Launch&) for each launch in order, with bindings that point to the copied values.
  template <class Encode>
  void for_each(const Encode& encode) const {
    std::array<Binding, kMaxBindings> bindings;
    for (const Kept& kept : launches_) {
      for (size_t i = 0; i < kept.num_bindings; ++i) {
        const Slot& slot = slots_[kept.first_binding + i];
        bindings[i] = slot.binding;
        if (slot.binding.buffer == nullptr) bindings[i].values = values_.data() + slot.first_value;
      }
      Launch launch = kept.launch;
      launch.bindings = std::span(bindings).first(kept.num_bindings);
      encode(launch);
    }
  }

 private:
  struct Kept {
    Launch launch;  // without bindings
    size_t first_binding = 0, num_bindings = 0;
  };
  struct Slot {
    Binding binding;
    size_t first_value = 0;  // in values_, if it has no buffer
  };
  std::vector<Kept> launches_;
  std::vector<Slot> slots_;
  std::vector<std::byte> values_;  // moves as it grows; aligned for structs, each of which begins at a multiple of 16
};

}  // namespace pagoda::device::gpu::metal
