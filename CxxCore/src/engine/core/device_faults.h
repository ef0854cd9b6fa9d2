// DeviceFaults: whether the engine can still work after failed steps. A device that failed permanently, or fails in
// consecutive steps, is a fault of the engine and not of a request. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <string>

#include "device/device.h"
#include "engine/step_status.h"

namespace pagoda::engine {

class DeviceFaults {
 public:
  explicit DeviceFaults(device::Device* device) : device_(device) {}  // null: its health is not checked

  void note(const Status& status) noexcept;                // of a step
  bool is_dead() const noexcept { return is_dead_; }       // no later step can succeed
  const Status& fault() const noexcept { return fault_; }  // the last failure, once recovery is unlikely
  std::string text() const;                                // of the fault; empty if there is none

 private:
  device::Device* device_;
  int32_t num_failed_steps_ = 0;  // consecutive
  bool is_dead_ = false;
  Status fault_;
};

}  // namespace pagoda::engine
