// Arena: allocates aligned parts of one buffer. A first run without a buffer computes the size_bytes() to allocate.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "device/tensor.h"

namespace pagoda::model {

class Arena {
 public:
  explicit Arena(device::Buffer* buffer = nullptr) noexcept : buffer_(buffer) {}

  device::Tensor take(DType dtype, std::initializer_list<int64_t> shape) noexcept {
    const device::Tensor tensor = device::dense(buffer_, dtype, shape, size_bytes_);
    int64_t size = static_cast<int64_t>(dtype_bytes(dtype));
    bool fits = true;
    for (int64_t n : shape) fits = fits && !__builtin_mul_overflow(size, n, &size);
    fits = fits && !__builtin_add_overflow(size, kAlignment - 1, &size);
    size -= size % kAlignment;
    if (!fits || __builtin_add_overflow(size_bytes_, size, &size_bytes_)) size_bytes_ = kTooMuch;
    return tensor;
  }

  // Never overflows: impossible sizes saturate at 2^62, which every memory plan refuses.
  int64_t size_bytes() const noexcept { return size_bytes_ < kTooMuch ? size_bytes_ : kTooMuch; }

 private:
  static constexpr int64_t kAlignment = 64;
  static constexpr int64_t kTooMuch = std::numeric_limits<int64_t>::max() / 2;
  device::Buffer* buffer_;
  int64_t size_bytes_ = 0;
};

}  // namespace pagoda::model
