// Resamples learned positions.
#include "model/vision/positions.h"

#include <algorithm>

namespace pagoda::model {
namespace {

struct Taps {
  int64_t low = 0, high = 0;
  float weight = 0;  // of `high`
};

Taps taps_of(int32_t index, int32_t size, int32_t side) noexcept {
  if (size <= 1) return {};
  const float at = static_cast<float>(index) * static_cast<float>(side - 1) / static_cast<float>(size - 1);
  const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(at), 0, side - 1);
  return {low, std::min<int64_t>(low + 1, side - 1), at - static_cast<float>(low)};
}

}  // namespace

void resample_position(const io::VisionConfig& config, std::span<const float> table, int32_t grid_h, int32_t grid_w,
                       PatchPlace place, std::span<float> out) noexcept {
  const Taps y = taps_of(place.row, grid_h, config.position_side),
             x = taps_of(place.column, grid_w, config.position_side);
  const auto row = [&](int64_t r, int64_t c) {
    return table.data() + (r * config.position_side + c) * config.hidden_size;
  };
  const float *a = row(y.low, x.low), *b = row(y.low, x.high), *c = row(y.high, x.low), *d = row(y.high, x.high);
  const float wa = (1 - y.weight) * (1 - x.weight), wb = (1 - y.weight) * x.weight, wc = y.weight * (1 - x.weight),
              wd = y.weight * x.weight;
  for (size_t i = 0; i < out.size(); ++i) out[i] = wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
}

}  // namespace pagoda::model
