// Rows of logits for the kernels that pick tokens, and the sampler's choice for them.
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "device/rig.h"
#include "sampler/sampler.h"

namespace pagoda::test {

// Many ties, including the two zeros and minus infinity; some rows have invalid values.
inline std::vector<float> random_logits_row(Random& random, int64_t vocab) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> row = random.normal(vocab, 3);
  const int64_t kind = random.below(12);
  const auto anywhere = [&]() -> float& { return row[static_cast<size_t>(random.below(vocab))]; };
  for (float& logit : row) {
    logit = std::round(logit);
    if (kind == 1 || kind == 2) logit = -std::abs(logit);  // the maximum is zero
    if (kind == 3) logit = -infinity;
    if (kind == 4 && random.below(2) == 0) logit = -infinity;
    if (kind == 5) logit *= std::numeric_limits<float>::denorm_min();
  }
  if (kind == 2) anywhere() = 0.0f;
  if (kind == 3 && random.below(2) == 0) anywhere() = std::numeric_limits<float>::lowest();
  if (kind == 6) anywhere() = nan;
  if (kind == 7) anywhere() = -nan;
  if (kind == 8) anywhere() = infinity;
  if (kind == 9) anywhere() = std::numeric_limits<float>::max();
  return row;
}

inline sampler::SampleInput sample_input(std::span<const float> row, const SamplingParams& params, uint64_t seed) {
  sampler::SampleInput input;
  input.logits = row;
  input.params = &params;
  input.seed = seed;
  return input;
}

// -1 where the sampler refuses the row.
inline int32_t sampled(std::span<const float> row, const SamplingParams& params, uint64_t seed) {
  sampler::Sampler sampler(static_cast<int32_t>(row.size()));
  sampler::SampleOutput output;
  return sampler.sample(sample_input(row, params, seed), output).is_ok() ? output.token_id : -1;
}

}  // namespace pagoda::test
