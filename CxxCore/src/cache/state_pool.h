// StatePool: which recurrent state slots are free. Ids only; the data is on the device.
// An acquired slot still contains the data of its last owner: the step that first uses it must zero it
// (Sequence::has_fresh_slot).
#pragma once

#include <cstdint>
#include <vector>

namespace pagoda::cache {

class StatePool {
 public:
  explicit StatePool(int32_t num_slots) : num_slots_(num_slots), in_use_(static_cast<size_t>(num_slots), 0) {
    free_.reserve(static_cast<size_t>(num_slots));
    for (int32_t slot = num_slots - 1; slot >= 0; --slot) free_.push_back(slot);
  }

  int32_t num_slots() const noexcept { return num_slots_; }
  int32_t num_free() const noexcept { return static_cast<int32_t>(free_.size()); }
  bool is_in_use(int32_t slot) const noexcept { return in_use_[slot] != 0; }

  int32_t acquire() noexcept {  // returns -1 if none is free
    if (free_.empty()) return -1;
    const int32_t slot = free_.back();
    free_.pop_back();
    in_use_[slot] = 1;
    return slot;
  }

  void release(int32_t slot) noexcept {
    in_use_[slot] = 0;
    free_.push_back(slot);
  }

 private:
  int32_t num_slots_;
  std::vector<uint8_t> in_use_;  // [num_slots]
  std::vector<int32_t> free_;    // a stack
};

}  // namespace pagoda::cache
