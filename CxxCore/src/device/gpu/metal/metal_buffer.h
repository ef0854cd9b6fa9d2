// MetalBuffer: memory that host and GPU share, in pages of the system. Metal code, compiled on Apple systems only.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "device/device.h"
#include "device/gpu/metal/metal_cpp.h"
#include "device/gpu/metal/residency.h"

namespace pagoda::device::gpu::metal {

// Pages of the system: zero, and provided when they are first used. Metal's own buffers would have to be cleared, which
// touches all of a cache that may never be filled.
class Pages {
 public:
  explicit Pages(size_t size_bytes) : size_(round_up(size_bytes, static_cast<size_t>(getpagesize()))) {
    base_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  Pages(const Pages&) = delete;
  ~Pages() {
    if (base_ != MAP_FAILED) munmap(base_, size_);
  }
  bool is_ok() const noexcept { return base_ != MAP_FAILED; }
  const void* get() const noexcept { return base_; }
  size_t size() const noexcept { return size_; }

 private:
  static size_t round_up(size_t size, size_t unit) { return (std::max<size_t>(size, 1) + unit - 1) / unit * unit; }
  size_t size_;
  void* base_;
};

// Command buffers do not retain it: as with its memory, it lives until the steps that use it are waited for.
class MetalBuffer final : public Buffer {
 public:
  MetalBuffer(std::shared_ptr<const void> memory, NS::SharedPtr<MTL::Buffer> buffer, size_t size,
              std::shared_ptr<Residency> residency)
      : memory_(std::move(memory)), buffer_(std::move(buffer)), size_(size), residency_(std::move(residency)) {
    residency_->add(buffer_.get());
  }
  ~MetalBuffer() override { residency_->remove(buffer_.get()); }
  size_t size_bytes() const noexcept override { return size_; }
  std::byte* host_pointer() noexcept override { return static_cast<std::byte*>(buffer_->contents()); }
  const MTL::Buffer* get() const noexcept { return buffer_.get(); }

 private:
  std::shared_ptr<const void> memory_;  // Pages or what is shared; outlives buffer_
  NS::SharedPtr<MTL::Buffer> buffer_;
  size_t size_;
  std::shared_ptr<Residency> residency_;
};

}  // namespace pagoda::device::gpu::metal
