// One device of a trial of products: a weight whose numbers any device can reproduce, and rows to multiply by it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "device/trial/tensor_trial.h"

namespace pagoda::device {

// Row r of a matrix is a segment of one sequence of numbers, so that any row can be computed directly; rows 4099 apart
// are equal. Each number is below 1 and divided by a power of two up to `exponents`.
class TrialNumbers {
 public:
  explicit TrialNumbers(int64_t cols, int exponents = 0);
  void copy(int64_t row, float scale, float* to) const;

 private:
  static constexpr size_t kOffsets = 4099;
  size_t cols_;
  std::vector<float> values_;
};

class TrialSide {
 public:
  static constexpr int64_t kDistinct = 37;  // row i of x is row i % 37: at a different index of a tile each time

  // columns: the output columns of `shape` to compute, in order. Reserves for `max_rows` rows of x. is_trusted:
  // quantised weights are floats with the values that a GPU rounds them to, since the CPU rounds differently.
  static Result<TrialSide> make(Device& device, const ProductShape& shape, const TrialNumbers& numbers,
                                std::span<const int64_t> columns, int64_t max_rows, bool is_trusted);

  int64_t width() const noexcept { return width_; }  // columns of the output
  // Replaces the rows of x, all of them; row i is then no longer row i % 37.
  Status set_rows(std::span<const float> x);
  // Total seconds of `times` products of `rows` rows: the best of several rounds, after a warm-up.
  Result<double> best_seconds(int64_t rows, int times, const TrialOptions& options);
  // The product of the first `rows` rows, repeated `times` times; and its result.
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
