// From one logits row to one token: adjust, cut, draw. Selections are partial; the vocabulary is never sorted.
#include "sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sampler/philox.h"

namespace pagoda::sampler {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMinusInfinity = -kInfinity;
constexpr float kHighest =
    std::numeric_limits<float>::max();  // adjusted logits stay finite above, so differences do too
constexpr float kRemovingBias = -100.0f;

void apply_penalties(const SamplingParams& params, const TokenCounts& counts, std::span<float> logits) {
  const bool repetition = params.repetition_penalty != 1.0f;
  const bool prompt_known = repetition && counts.in_prompt.size() == logits.size();
  const bool output_known = counts.output.size() == logits.size();
  if (!prompt_known && !output_known) return;
  for (size_t id = 0; id < logits.size(); ++id) {
    const uint32_t count = output_known ? counts.output[id] : 0;
    float& logit = logits[id];
    if (repetition && (count > 0 || (prompt_known && counts.in_prompt[id] != 0)))
      logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    if (count > 0) logit -= params.frequency_penalty * static_cast<float>(count) + params.presence_penalty;
  }
}

void apply_mask(std::span<const uint64_t> allowed, std::span<float> logits) noexcept {
  for (size_t id = 0; id < logits.size(); ++id) {
    const bool is_allowed = id / 64 < allowed.size() && (allowed[id / 64] >> (id % 64) & 1) != 0;
    logits[id] = is_allowed ? logits[id] : kMinusInfinity;
  }
}

bool changes_logits(const SampleInput& input) noexcept {
  return !input.params->logit_bias.empty() || !input.banned.empty() || !input.allowed.empty() ||
         (input.counts != nullptr && !(input.counts->output.empty() && input.counts->in_prompt.empty()));
}

// Tokens below an equal share of the rest weigh less than that rest together: the last kept token is not among them.
// Half of it leaves room for rounding.
double least_kept(double wanted, double total, size_t num_tokens) noexcept {
  return 0.5 * (total - wanted) / static_cast<double>(num_tokens);
}

}  // namespace

bool takes_highest(const SampleInput& input) noexcept {
  const SamplingParams& params = *input.params;
  const bool has_one_choice = params.temperature == 0.0f || params.top_k == 1;
  return has_one_choice && params.num_top_logprobs < 0 && input.forced_id < 0 && !changes_logits(input);
}

Sampler::Sampler(int32_t vocab_size)
    : raw_(static_cast<size_t>(std::max(vocab_size, 0))),
      adjusted_(static_cast<size_t>(std::max(vocab_size, 0))),
      changed_(static_cast<size_t>(std::max(vocab_size, 0))) {
  candidates_.reserve(changed_.size());
  scratch_.reserve(changed_.size());
}

bool Sampler::more_likely(const Candidate& a, const Candidate& b) noexcept {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

Status Sampler::check(const SampleInput& input) {
  const std::span<const float> logits = input.logits;
  if (logits.size() != changed_.size()) {
    return make_error(StatusCode::internal, "sampler made for a vocabulary of " + std::to_string(changed_.size()) +
                                                " got " + std::to_string(logits.size()) + " logits");
  }
  if (!raw_.survey(logits)) {
    const auto bad = std::find_if_not(logits.begin(), logits.end(), [](float logit) { return logit < kInfinity; });
    return make_error(StatusCode::device_error, "logit of token " + std::to_string(bad - logits.begin()) + " is " +
                                                    (std::isnan(*bad) ? "NaN" : "infinite"));
  }
  if (raw_.highest() == kMinusInfinity) return make_error(StatusCode::device_error, "every logit is minus infinity");
  return ok_status();
}

Status Sampler::sample(const SampleInput& input, SampleOutput& output) {
  PAGODA_RETURN_IF_ERROR(check(input));
  if (input.forced_id >= 0 && static_cast<size_t>(input.forced_id) < changed_.size()) {
    output.token_id = input.forced_id;
  } else {
    PAGODA_RETURN_IF_ERROR(adjust(input));
    output.token_id = pick(input);
  }
  fill_logprobs(input, output);
  return ok_status();
}

// top-k, then min-p, which compares with the most likely token, whose weight is 1, then top-p of what is left.
int32_t Sampler::pick(const SampleInput& input) {
  const SamplingParams& params = *input.params;
  const float temperature = params.temperature;
  if (temperature == 0.0f) return adjusted_.first_highest();
  const double uniform = uniform_double_at(input.seed, input.token_index), top_p = static_cast<double>(params.top_p);
  const double min_p = static_cast<double>(params.min_p);
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < changed_.size()) {
    gather(static_cast<size_t>(params.top_k));
    weigh(temperature);
    std::erase_if(candidates_, [min_p](const Candidate& c) { return c.weight < min_p; });
  } else if (min_p > 0) {
    gather_from(min_p, temperature);
  } else {
    const double total = adjusted_.sum_weights(temperature);
    if (top_p >= 1) return adjusted_.id_at(uniform * total, temperature);
    const double least = least_kept(top_p * total, total, changed_.size());
    gather_from(least, temperature);
    keep_top_p(top_p * total, least);
    return draw(uniform);
  }
  if (top_p < 1) {
    const double total = total_weight();
    keep_top_p(top_p * total, least_kept(top_p * total, total, candidates_.size()));
  }
  return draw(uniform);
}

Status Sampler::adjust(const SampleInput& input) {
  if (!changes_logits(input)) {
    adjusted_ = raw_;
    return ok_status();
  }
  std::copy(input.logits.begin(), input.logits.end(), changed_.begin());
  if (!input.allowed.empty()) apply_mask(input.allowed, changed_);
  const auto known = [this](int32_t id) { return id >= 0 && static_cast<size_t>(id) < changed_.size(); };
  for (const LogitBias& entry : input.params->logit_bias) {
    if (!known(entry.token_id)) continue;
    float& logit = changed_[static_cast<size_t>(entry.token_id)];
    logit = entry.bias <= kRemovingBias ? kMinusInfinity : std::min(logit + entry.bias, kHighest);
  }
  if (input.counts != nullptr) apply_penalties(*input.params, *input.counts, changed_);
  for (const int32_t id : input.banned) {
    if (known(id)) changed_[static_cast<size_t>(id)] = kMinusInfinity;
  }
  for (float& logit : changed_) logit = std::min(logit, kHighest);
  adjusted_.survey(changed_);
  if (adjusted_.highest() == kMinusInfinity)
    return make_error(StatusCode::invalid_argument, "logit_bias, banned ids and the grammar leave no token to sample");
  return ok_status();
}

void Sampler::gather(size_t count) {
  candidates_.clear();
  adjusted_.for_each_from(adjusted_.reached_by(count), [this](int32_t id, float logit) {
    if (logit > kMinusInfinity) candidates_.push_back({logit, id, 0.0});
  });
  if (candidates_.size() <= count) return;
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(candidates_.begin(), end, candidates_.end(), more_likely);
  candidates_.erase(end, candidates_.end());
  std::ranges::sort(candidates_, {}, &Candidate::id);
}

void Sampler::gather_from(double least, float temperature) {
  // A little below the logit of that weight, for rounding; the weight itself decides.
  const float distance = static_cast<float>(std::log(least)) * temperature * 1.001f - temperature * 1e-3f;
  const float bound = adjusted_.highest() + distance;
  candidates_.clear();
  adjusted_.for_each_from(bound - std::abs(bound) * 1e-5f, [&](int32_t id, float logit) {
    const double weight = static_cast<double>(weight_of((logit - adjusted_.highest()) / temperature));
    if (weight >= least) candidates_.push_back({logit, id, weight});
  });
}

void Sampler::weigh(float temperature) {
  for (Candidate& candidate : candidates_)
    candidate.weight = static_cast<double>(weight_of((candidate.logit - adjusted_.highest()) / temperature));
}

double Sampler::total_weight() const noexcept {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  return total;
}

// Keeps the most likely tokens until their mass reaches `wanted`: a token stays if those before it weigh less than
// that. Tokens lighter than `least` are not among them. Weighted quickselect: halves the range that holds the last kept
// token, O(n) in all.
void Sampler::keep_top_p(double wanted, double least) {
  scratch_.clear();
  for (const Candidate& candidate : candidates_) {
    if (candidate.weight >= least) scratch_.push_back(candidate);
  }
  auto begin = scratch_.begin(), end = scratch_.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, more_likely);
    double upper_half = 0;
    for (auto it = begin; it != middle; ++it) upper_half += it->weight;
    if (upper_half >= wanted) {
      end = middle;
    } else {
      wanted -= upper_half;
      begin = middle;
    }
  }
  const Candidate last = *begin;
  std::erase_if(candidates_, [&last](const Candidate& candidate) { return more_likely(last, candidate); });
}

int32_t Sampler::draw(double uniform) const noexcept {
  const double target = uniform * total_weight();
  double reached = 0;
  int32_t id = candidates_.front().id;
  for (const Candidate& candidate : candidates_) {
    if (candidate.weight == 0) continue;
    id = candidate.id;
    reached += candidate.weight;
    if (reached > target) break;
  }
  return id;
}

// Of the raw logits, whatever was sampled how.
void Sampler::fill_logprobs(const SampleInput& input, SampleOutput& output) {
  output.logprob = 0.0f;
  output.top_logprobs.clear();
  if (input.params->num_top_logprobs < 0) return;
  const double log_total = static_cast<double>(raw_.highest()) + std::log(raw_.sum_weights(1.0f));
  const auto logprob = [&](float logit) { return static_cast<float>(static_cast<double>(logit) - log_total); };
  output.logprob = logprob(input.logits[static_cast<size_t>(output.token_id)]);

  const size_t wanted = std::min(static_cast<size_t>(input.params->num_top_logprobs), input.logits.size());
  if (wanted == 0) return;
  scratch_.clear();
  raw_.for_each_from(raw_.reached_by(wanted),
                     [this](int32_t id, float logit) { scratch_.push_back({logit, id, 0.0}); });
  const size_t count = std::min(wanted, scratch_.size());
  std::partial_sort(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(count), scratch_.end(),
                    more_likely);
  for (size_t i = 0; i < count; ++i) output.top_logprobs.push_back({scratch_[i].id, logprob(scratch_[i].logit)});
}

}  // namespace pagoda::sampler
