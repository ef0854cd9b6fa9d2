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
    const auto end = sorted.begin() + static_cast<ptrdiff_t>(std::min(num_noted_, sorted.size()));
    const auto middle = sorted.begin() + (end - sorted.begin()) / 2;
    std::nth_element(sorted.begin(), middle, end);
    median_ = *middle;
  }
  double value() const noexcept { return median_; }  // 0: nothing noted

 private:
  std::array<float, 11> values_{};
  size_t num_noted_ = 0;
  float median_ = 0;
};

class StepCosts {
 public:
  static constexpr int32_t kMaxRows = 128;

  // num_rows is at most kMaxRows.
  void note(int32_t num_rows, double seconds) noexcept { costs_[static_cast<size_t>(num_rows)].note(seconds); }

  // Seconds of a step with this many rows, at most kMaxRows; 0: not measured.
  double measured(int32_t num_rows) const noexcept { return costs_[static_cast<size_t>(num_rows)].value(); }

  // As measured, or interpolated linearly between measured numbers of rows. In plain steps while nothing is measured.
  double estimate(int32_t num_rows) const noexcept;

 private:
  std::array<RecentMedian, kMaxRows + 1> costs_;
};

}  // namespace pagoda::speculate
