// StepCosts: interpolation between measured numbers of rows.
#include "speculate/step_costs.h"

namespace pagoda::speculate {

static constexpr double kRowsGuess = 0.06;  // cost of each additional row relative to a step, before it is measured

double StepCosts::estimate(int32_t num_rows) const noexcept {
  const int32_t rows = std::clamp(num_rows, 1, kMaxRows);
  int32_t below = rows, above = rows;
  while (below > 0 && measured(below) == 0) --below;
  while (above <= kMaxRows && measured(above) == 0) ++above;
  const double low = below > 0 ? measured(below) : 0;
  const double high = above <= kMaxRows ? measured(above) : 0;
  if (below > 0 && above <= kMaxRows)
    return below == above ? low : low + (high - low) * (rows - below) / (above - below);
  if (below > 0) return low * (1 + kRowsGuess * (rows - below));
  return above <= kMaxRows ? high / (1 + kRowsGuess * (above - rows)) : 1 + kRowsGuess * rows;
}

}  // namespace pagoda::speculate
