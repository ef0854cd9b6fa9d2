// Rotation speeds: theta^(-2i / rotary_dim), then the scaling. In double, rounded once at the end.
#include "model/rope.h"

#include <cmath>
#include <numbers>

namespace pagoda::model {
namespace {

// Short waves stay, long waves are stretched by `factor`, and those between are blended.
double scale_llama3(double inv_freq, const io::RopeConfig& rope) {
  const double turns = rope.original_context * inv_freq / (2 * std::numbers::pi);  // within the original context
  if (turns < rope.low_freq_factor) return inv_freq / rope.factor;
  if (turns > rope.high_freq_factor || rope.high_freq_factor <= rope.low_freq_factor) return inv_freq;
  const double smooth = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - smooth) * inv_freq / rope.factor + smooth * inv_freq;
}

}  // namespace

std::vector<float> rope_inv_freq(const io::RopeConfig& rope) {
  std::vector<float> speeds;
  for (int32_t i = 0; i < rope.rotary_dim / 2; ++i) {
    double inv_freq = std::pow(rope.theta, -2.0 * i / rope.rotary_dim);
    if (rope.scaling == io::RopeConfig::Scaling::llama3) inv_freq = scale_llama3(inv_freq, rope);
    if (rope.scaling == io::RopeConfig::Scaling::linear) inv_freq /= rope.factor;
    speeds.push_back(static_cast<float>(inv_freq));
  }
  return speeds;
}

}  // namespace pagoda::model
