// Sampler: rules that follow the shape of the whole distribution: dynamic temperature, top-n-sigma and XTC.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/sampler.h"

namespace pagoda::sampler {

// Between temperature - range and temperature + range: the first if one token is certain, the last if all are equally
// likely. The entropy is that of the distribution at temperature 1.
float Sampler::temperature_for(const SamplingParams& params) const {
  if (params.dynatemp_range <= 0 || params.temperature == 0) return params.temperature;
  double total = 0, moment = 0;  // sums of w and w * x, with w = e^x
  size_t count = 0;
  adjusted_.for_each_from(std::numeric_limits<float>::lowest(), [&](int32_t, float logit) {
    const float x = logit - adjusted_.highest(), w = weight_of(x);
    total += static_cast<double>(w);
    moment += static_cast<double>(w) * static_cast<double>(x);
    ++count;
  });
  const double entropy = std::log(total) - moment / total, most = std::log(static_cast<double>(count));
  const double share = most > 0 ? std::clamp(entropy / most, 0.0, 1.0) : 0.0;
  const double low = std::max(0.0, static_cast<double>(params.temperature) - params.dynatemp_range);
  const double high = static_cast<double>(params.temperature) + params.dynatemp_range;
  return static_cast<float>(low + (high - low) * std::pow(share, static_cast<double>(params.dynatemp_exponent)));
}

void Sampler::keep_top_n_sigma(float n) {
  double sum = 0, squares = 0;
  size_t count = 0;
  const auto highest = static_cast<double>(adjusted_.highest());
  adjusted_.for_each_from(std::numeric_limits<float>::lowest(), [&](int32_t, float logit) {
    const double x = static_cast<double>(logit) - highest;
    sum += x;
    squares += x * x;
    ++count;
  });
  const double mean = sum / static_cast<double>(count);
  const double deviation = std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean));
  const auto least = static_cast<float>(highest - static_cast<double>(n) * deviation);
  change_all();
  for (float& logit : changed_)
    if (logit < least) logit = -std::numeric_limits<float>::infinity();
  adjusted_.survey(changed_);
}

// XTC: of the candidates with at least this probability, only the least likely stays.
void Sampler::exclude_top_choices(float threshold) {
  const auto least = static_cast<uint64_t>(static_cast<double>(threshold) * static_cast<double>(total_weight()));
  const Candidate* last = nullptr;
  for (const Candidate& candidate : candidates_)
    if (candidate.weight >= least && (!last || more_likely(*last, candidate))) last = &candidate;
  if (!last) return;
  const Candidate kept = *last;
  std::erase_if(candidates_, [&](const Candidate& c) { return more_likely(c, kept); });
}

}  // namespace pagoda::sampler
