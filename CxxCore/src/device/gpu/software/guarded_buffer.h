// GuardedBuffer: zero-filled memory of exactly the requested size, between guard pages on which any access faults. The
// bytes between its end and the guard page hold a pattern, so that a write there is detected as well.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "device/tensor.h"

namespace pagoda::device::gpu::software {

class GuardedBuffer final : public Buffer {
 public:
  static Result<std::unique_ptr<GuardedBuffer>> create(size_t size_bytes, const std::string& label);
  // Of memory that is only read, without guard pages.
  explicit GuardedBuffer(std::unique_ptr<Buffer> memory)
      : memory_(std::move(memory)),
        data_(reinterpret_cast<char*>(memory_->host_pointer())),
        size_(memory_->size_bytes()),
        label_("shared memory") {}
  ~GuardedBuffer() override;
  size_t size_bytes() const noexcept override { return size_; }
  std::byte* host_pointer() noexcept override { return reinterpret_cast<std::byte*>(data_); }
  const std::string& label() const noexcept { return label_; }
  // Whether the bytes past its end are untouched.
  bool is_intact() const noexcept;

 private:
  GuardedBuffer(char* map, size_t map_bytes, char* data, size_t size, std::string label)
      : map_(map), map_bytes_(map_bytes), data_(data), size_(size), label_(std::move(label)) {}
  std::unique_ptr<Buffer> memory_;
  char* map_ = nullptr;
  size_t map_bytes_ = 0;
  char* data_;
  size_t size_;
  std::string label_;
};

}  // namespace pagoda::device::gpu::software
