// Residency: keeps the device's buffers in the GPU's memory between steps (macOS 15, iOS 18; elsewhere it does
// nothing). Without it the system unwires them when the GPU has been idle for a second, and the next answer waits for
// gigabytes of weights. Metal code, compiled on Apple systems only. Owns a thread; thread rule: Backend's for all
// calls.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "device/gpu/metal/keep_alive.h"
#include "device/gpu/metal/metal_cpp.h"

namespace pagoda::device::gpu::metal {

class Residency {
 public:
  Residency(MTL::Device* device, MTL::CommandQueue* queue);
  Residency(const Residency&) = delete;
  ~Residency();

  void add(MTL::Buffer* buffer) noexcept;
  // Waits until the last commands have completed: they may still refer to the buffer for a moment after the host knows
  // that their work is done, and do not retain it.
  void remove(MTL::Buffer* buffer) noexcept;
  void note_use() noexcept;  // a step begins
  void set_last(const NS::SharedPtr<MTL::CommandBuffer>& commands) noexcept { last_ = commands; }

 private:
  NS::SharedPtr<MTL::CommandBuffer> last_;
#ifndef PAGODA_METAL_CPP  // older copies of metal-cpp lack residency sets
  void repeat_requests() noexcept;

  std::mutex mutex_;  // guards everything below; the set is used by both threads
  NS::SharedPtr<MTL::ResidencySet> set_;
  KeepAlive keep_alive_;
  bool is_ending_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // sleeps until a step begins, then asks again while KeepAlive says so
#endif
};

}  // namespace pagoda::device::gpu::metal
