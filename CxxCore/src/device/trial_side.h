// One device of a trial of products: a weight whose numbers any device can make again, and rows to multiply by it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/tensor_trial.h"

namespace pagoda::device {

// Row r of a matrix is a piece of one sequence of numbers, so that any row can be had at once; rows 4099 apart are
// alike.
class TrialNumbers {
 public:
  explicit TrialNumbers(int64_t cols);
  void copy(int64_t row, float scale, float* to) const;

 private:
  static constexpr size_t kOffsets = 4099;
  size_t cols_;
  std::vector<float> values_;
};

class TrialSide {
 public:
  static constexpr int64_t kDistinct = 37;  // row i of x is row i % 37: a tile has it at another place each time

  // columns: those of the output of `shape` that are made, in order. Reserves for `max_rows` rows of x.
  static Result<TrialSide> make(Device& device, const ProductShape& shape, const TrialNumbers& numbers,
                                std::span<const int64_t> columns, int64_t max_rows);

  int64_t width() const noexcept { return width_; }  // columns of the output
  // The product of the first `rows` rows, `times` times over; and what it is.
  Status multiply(int64_t rows, int times = 1);
  Status multiply(int64_t rows, std::vector<float>& out);

 private:
  TrialSide(Device& device, bool silu_mul, int64_t width) : device_(&device), silu_mul_(silu_mul), width_(width) {}
  Result<Tensor> floats(int64_t rows, int64_t cols);

  Device* device_;
  bool silu_mul_;
  int64_t width_;
  std::unique_ptr<Weight> weight_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Tensor x_, out_;
};

}  // namespace pagoda::device
