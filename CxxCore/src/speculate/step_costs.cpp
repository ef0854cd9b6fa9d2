// StepCosts: ages of costs, and interpolation between measured numbers of rows.
#include "speculate/step_costs.h"

namespace pagoda::speculate {

// Before it is measured: the cost of a step of some rows relative to one that only reads the weights.
static constexpr double guess(int32_t num_rows) noexcept { return 1 + 0.06 * num_rows; }

void StepCosts::note(int32_t num_rows, double seconds) noexcept {
  Cost& cost = costs_[static_cast<size_t>(num_rows)];
  ++num_noted_;
  if (num_noted_ - cost.noted_at > kMaxAge) cost.seconds = {};
  cost.seconds.note(seconds);
  cost.noted_at = num_noted_;
  make_estimates();
}

void StepCosts::recall(int32_t num_rows, double seconds) noexcept {
  costs_[static_cast<size_t>(num_rows)].seconds.note(seconds);
  make_estimates();
}

void StepCosts::make_estimates() noexcept {
  std::array<double, kMaxRows + 1> least;  // of this and all higher numbers of rows; 0: not measured
  double lowest = 0;
  for (int32_t rows = kMaxRows; rows > 0; --rows) {
    const double cost = measured(rows);
    if (cost > 0) lowest = lowest > 0 ? std::min(lowest, cost) : cost;
    least[static_cast<size_t>(rows)] = cost > 0 ? lowest : 0;
  }
  int32_t below = 0;  // the last measured number of rows
  for (int32_t rows = 1; rows <= kMaxRows; ++rows) {
    double& estimate = estimates_[static_cast<size_t>(rows)];
    const double low = below > 0 ? estimates_[static_cast<size_t>(below)] : 0;
    estimate = below > 0 ? low * guess(rows) / guess(below) : guess(rows);
    if (least[static_cast<size_t>(rows)] == 0) continue;
    const double high = estimate = least[static_cast<size_t>(rows)];
    for (int32_t between = below + 1; between < rows; ++between)
      estimates_[static_cast<size_t>(between)] =
          below > 0 ? low + (high - low) * (between - below) / (rows - below) : high * guess(between) / guess(rows);
    below = rows;
  }
}

}  // namespace pagoda::speculate
