// Adds buffers to a residency set of the queue, and repeats the request for it while the model is in use.
#include "device/gpu/metal/enabled.h"
#ifdef PAGODA_METAL

#include <chrono>
#include <system_error>

#include "device/gpu/metal/residency.h"

namespace pagoda::device::gpu::metal {
#ifdef PAGODA_METAL_CPP

Residency::Residency(MTL::Device*, MTL::CommandQueue*) {}
Residency::~Residency() = default;
void Residency::add(MTL::Buffer*) noexcept {}
void Residency::remove(MTL::Buffer*) noexcept {
  if (last_) last_->waitUntilCompleted();
}
void Residency::note_use() noexcept {}

#else
namespace {

double now_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Residency::Residency(MTL::Device* device, MTL::CommandQueue* queue) {
  if (!device->respondsToSelector(sel_registerName("newResidencySetWithDescriptor:error:"))) return;
  const auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
  set_ = NS::TransferPtr(device->newResidencySet(descriptor.get(), nullptr));
  if (!set_) return;
  queue->addResidencySet(set_.get());
  try {
    thread_ = std::thread([this] { repeat_requests(); });
  } catch (const std::system_error&) {  // without it the system decides alone what stays
  }
}

Residency::~Residency() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  set_->endResidency();
}

void Residency::add(MTL::Buffer* buffer) noexcept {
  const Pool pool;
  const std::lock_guard lock(mutex_);
  if (!set_) return;
  set_->addAllocation(buffer);
  set_->commit();
}

void Residency::remove(MTL::Buffer* buffer) noexcept {
  const Pool pool;
  if (last_) last_->waitUntilCompleted();
  const std::lock_guard lock(mutex_);
  if (!set_) return;
  set_->removeAllocation(buffer);
  set_->commit();
}

// The thread needs no wake-up while it is still repeating requests.
void Residency::note_use() noexcept {
  const std::lock_guard lock(mutex_);
  const double now = now_seconds();
  const bool sleeps = !keep_alive_.next(now);
  keep_alive_.note_use(now);
  if (sleeps) changed_.notify_one();
}

void Residency::repeat_requests() noexcept {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const auto seconds = keep_alive_.next(now_seconds());
    if (!seconds) {
      changed_.wait(lock);
      continue;
    }
    {
      const Pool pool;
      set_->requestResidency();
    }
    changed_.wait_for(lock, std::chrono::duration<double>(*seconds), [this] { return is_ending_; });
  }
}

#endif
}  // namespace pagoda::device::gpu::metal

#endif
