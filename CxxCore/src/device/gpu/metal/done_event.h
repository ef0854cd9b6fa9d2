// DoneEvent: tells the host that the GPU has finished a step. An event wakes it sooner than the completion of the
// command buffer, which the system reports through a queue of its own. Metal code, compiled on Apple systems only.
#pragma once

#include <cstdint>

#include "device/gpu/metal/metal_cpp.h"

namespace pagoda::device::gpu::metal {

class DoneEvent {
 public:
#ifdef PAGODA_METAL_CPP  // older copies of metal-cpp cannot wait for events
  explicit DoneEvent(MTL::Device*) {}
  void signal(MTL::CommandBuffer*) noexcept {}
  void wait(MTL::CommandBuffer* commands) noexcept { commands->waitUntilCompleted(); }
#else
  explicit DoneEvent(MTL::Device* device) : event_(NS::TransferPtr(device->newSharedEvent())) {}

  // After the work of these commands, which are not committed yet.
  void signal(MTL::CommandBuffer* commands) noexcept {
    if (event_) commands->encodeSignalEvent(event_.get(), ++value_);
  }
  // Returns when they are done or have failed; commands that failed may not signal.
  void wait(MTL::CommandBuffer* commands) noexcept {
    if (!event_) return commands->waitUntilCompleted();
    while (!event_->waitUntilSignaledValue(value_, kCheckMilliseconds)) {
      const MTL::CommandBufferStatus status = commands->status();
      if (status == MTL::CommandBufferStatusCompleted || status == MTL::CommandBufferStatusError) return;
    }
  }

 private:
  static constexpr uint64_t kCheckMilliseconds = 100;
  NS::SharedPtr<MTL::SharedEvent> event_;
  uint64_t value_ = 0;
#endif
};

}  // namespace pagoda::device::gpu::metal
