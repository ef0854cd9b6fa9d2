// StepCosts: the time of a step by its number of rows, as medians of the newest steps.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pagoda::speculate {

// The median of the newest values. A mean would follow the few steps that other work on the machine delays: measured
// rarely, plain steps then seemed slower than they are, and wrong drafts seemed to pay.
class RecentMedian {
 public:
  void note(double value) noexcept {
    values_[num_noted_++ % values_.size()] = static_cast<float>(value);
    auto sorted = values_;
    const size_t count = std::min(num_noted_, sorted.size()), middle = (count - 1) / 2;
    std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + count);
    median_ = sorted[middle];
  }
  bool is_present() const noexcept { return num_noted_ > 0; }
  double value() const noexcept { return median_; }  // 0: nothing noted

 private:
  std::array<float, 11> values_{};
  size_t num_noted_ = 0;
  float median_ = 0;
};

class StepCosts {
 public:
  static constexpr int32_t kMaxRows = 128;

  StepCosts() noexcept { make_estimates(); }

  // num_rows is at most kMaxRows.
  void note(int32_t num_rows, double seconds) noexcept;

  // Before anything is noted: the time in an earlier process, which counts as one measurement.
  void recall(int32_t num_rows, double seconds) noexcept;

  // Seconds of a step with this many rows, at most kMaxRows; 0: not measured recently. A cost that was too high would
  // otherwise keep such steps from being tried again.
  double measured(int32_t num_rows) const noexcept {
    const Cost& cost = costs_[static_cast<size_t>(num_rows)];
    return num_noted_ - cost.noted_at <= kMaxAge ? cost.seconds.value() : 0;
  }

  // As measured, or interpolated linearly between measured numbers of rows; never above a measured cost of more rows.
  // In plain steps while nothing is measured.
  double estimate(int32_t num_rows) const noexcept {
    return estimates_[static_cast<size_t>(std::clamp(num_rows, 1, kMaxRows))];
  }

 private:
  static constexpr int64_t kMaxAge = 512;  // steps

  struct Cost {
    RecentMedian seconds;
    int64_t noted_at = 0;
  };
  void make_estimates() noexcept;

  std::array<Cost, kMaxRows + 1> costs_;
  std::array<double, kMaxRows + 1> estimates_{};
  int64_t num_noted_ = 0;
};

}  // namespace pagoda::speculate
