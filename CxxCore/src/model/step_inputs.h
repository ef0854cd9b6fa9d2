// StepInputs: the integer lists that a step reads, packed on the host and uploaded in one copy. Each copy costs the
// driver microseconds, however small it is, and a decode step has eight to fourteen lists.
// State: the lists added since clear(), in memory reserved for the largest step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/draw.h"
#include "device/device.h"

namespace pagoda::model {

class StepInputs {
 public:
  StepInputs() = default;
  // `region`: a dense tensor large enough for the largest step.
  explicit StepInputs(const device::Tensor& region) : region_(region) {
    bytes_.reserve(static_cast<size_t>(region.num_elements()) * dtype_bytes(region.dtype));
  }

  // Maximum bytes of a list of `count` elements.
  static constexpr int64_t size_bytes(int64_t count, int64_t element_bytes) noexcept {
    return (count * element_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  void clear() noexcept { bytes_.clear(); }

  // A view [n] of the values' location after upload(). Draws are [n, 7].
  device::Tensor add(std::span<const int32_t> values) { return add(values, DType::i32); }
  device::Tensor add(std::span<const int64_t> values) { return add(values, DType::i64); }
  device::Tensor add(std::span<const Draw> values) {
    device::Tensor rows = add(values, DType::i64);
    return device::dense(rows.buffer, rows.dtype, {rows.shape[0], sizeof(Draw) / sizeof(int64_t)}, rows.offset_bytes);
  }

  Status upload(device::Device& device) const noexcept {
    return bytes_.empty() ? ok_status() : device.upload(region_, bytes_.data(), bytes_.size());
  }

 private:
  static constexpr int64_t kAlignment = 64;

  template <class T>
  device::Tensor add(std::span<const T> values, DType dtype) {
    const int64_t count = static_cast<int64_t>(values.size());
    const size_t at = bytes_.size();
    bytes_.resize(at + static_cast<size_t>(size_bytes(count, sizeof(T))));
    if (count > 0) std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
    return device::dense(region_.buffer, dtype, {count}, region_.offset_bytes + static_cast<int64_t>(at));
  }

  device::Tensor region_;
  std::vector<std::byte> bytes_;
};

}  // namespace pagoda::model
