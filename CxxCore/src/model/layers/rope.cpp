// Rotation frequencies: theta^(-2i / rotary_dim), then the scaling. In double, rounded once at the end.
#include "model/layers/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pagoda::model {
namespace {

// Short waves are kept, long waves are stretched by `factor`, and those in between are blended.
double scale_llama3(double inv_freq, const io::RopeConfig& rope) {
  const double turns = rope.original_context * inv_freq / (2 * std::numbers::pi);  // within the original context
  if (turns < rope.low_freq_factor) return inv_freq / rope.factor;
  if (turns > rope.high_freq_factor || rope.high_freq_factor <= rope.low_freq_factor) return inv_freq;
  const double smooth = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1 - smooth) * inv_freq / rope.factor + smooth * inv_freq;
}

// Frequencies with many turns within the trained context are kept, slow ones are stretched by `factor`, and those in
// between are blended by their index.
double scale_yarn(double inv_freq, int32_t index, const io::RopeConfig& rope) {
  const auto index_of = [&](double turns) {  // the frequency with that many turns within the trained context
    return rope.rotary_dim * std::log(rope.original_context / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
  };
  double low = index_of(rope.beta_fast), high = index_of(rope.beta_slow);
  if (rope.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, rope.rotary_dim - 1.0);
  if (low == high) high += 0.001;
  const double stretched = std::clamp((index - low) / (high - low), 0.0, 1.0);
  return inv_freq / rope.factor * stretched + inv_freq * (1 - stretched);
}

double speed(const io::RopeConfig& rope, int32_t i, int64_t row) {
  using Scaling = io::RopeConfig::Scaling;
  if (rope.is_off) return 0.0;
  double theta = rope.theta;
  if (rope.scaling == Scaling::dynamic) {
    const double length = static_cast<double>(rope.original_context + row);
    const double stretch = rope.factor * length / rope.original_context - (rope.factor - 1);
    theta *= std::pow(stretch, rope.rotary_dim / (rope.rotary_dim - 2.0));
  }
  const double inv_freq = std::pow(theta, -2.0 * i / rope.rotary_dim);
  switch (rope.scaling) {
    case Scaling::llama3: return scale_llama3(inv_freq, rope);
    case Scaling::linear: return inv_freq / rope.factor;
    case Scaling::yarn: return scale_yarn(inv_freq, i, rope);
    case Scaling::longrope: return inv_freq / (row == 0 ? rope.short_factors : rope.long_factors)[i];
    case Scaling::none:
    case Scaling::dynamic: break;
  }
  return inv_freq;
}

}  // namespace

int64_t num_rope_rows(const io::RopeConfig& rope, int32_t context_length) noexcept {
  if (rope.scaling == io::RopeConfig::Scaling::longrope) return 2;
  if (rope.scaling != io::RopeConfig::Scaling::dynamic || rope.rotary_dim <= 2) return 1;
  return 1 + std::max(0, context_length - rope.original_context);
}

int64_t rope_row(const io::RopeConfig& rope, int64_t num_rows, int32_t position) noexcept {
  return std::clamp<int64_t>(int64_t{position} + 1 - rope.original_context, 0, num_rows - 1);
}

// The sections are interleaved: time, height, width, time, ... until a section is used up; the rest is time.
static int coordinate_of(const std::array<int32_t, 3>& sections, int32_t index) noexcept {
  const int coordinate = index % 3;
  return index < 3 * sections[static_cast<size_t>(coordinate)] ? coordinate : 0;
}

int64_t num_table_rows(const io::RopeConfig& rope, const io::ModelConfig& config) noexcept {
  return num_rope_rows(rope, config.context_length) + (config.vision.is_present() ? 3 : 0);
}

std::vector<float> rope_table(const io::RopeConfig& rope, const io::ModelConfig& config) {
  std::vector<float> speeds;
  for (int64_t row = 0; row < num_rope_rows(rope, config.context_length); ++row)
    for (int32_t i = 0; i < rope.rotary_dim / 2; ++i) speeds.push_back(static_cast<float>(speed(rope, i, row)));
  for (int coordinate = 0; config.vision.is_present() && coordinate < 3; ++coordinate)
    for (int32_t i = 0; i < rope.rotary_dim / 2; ++i)
      speeds.push_back(coordinate_of(config.vision.sections, i) == coordinate ? speeds[static_cast<size_t>(i)] : 0.0f);
  return speeds;
}

double rope_score_factor(const io::RopeConfig& rope, int32_t head_dim) noexcept {
  return rope.rotary_dim == head_dim ? rope.attention_factor * rope.attention_factor : 1.0;
}

double latent_score_factor(const io::RopeConfig& rope) noexcept {
  if (rope.mscale_all_dim == 0.0 || rope.factor <= 1.0) return 1.0;
  const double mscale = 0.1 * rope.mscale_all_dim * std::log(rope.factor) + 1.0;
  return mscale * mscale;
}

double rope_norm_factor(const io::RopeConfig& rope, int32_t head_dim, int64_t i) noexcept {
  return rope.rotary_dim != head_dim && i < rope.rotary_dim ? rope.attention_factor : 1.0;
}

}  // namespace pagoda::model
