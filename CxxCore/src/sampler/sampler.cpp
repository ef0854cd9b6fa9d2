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

Status check_logits(std::span<const float> logits, size_t vocab_size) {
  if (logits.size() != vocab_size) {
    return make_error(StatusCode::internal, "sampler made for a vocabulary of " + std::to_string(vocab_size) + " got " +
                                                std::to_string(logits.size()) + " logits");
  }
  bool all_below_infinity = true, any_possible = false;  // no branches: the loop runs over many values at a time
  for (const float logit : logits) {
    all_below_infinity &= logit < kInfinity;  // false for NaN
    any_possible |= logit > -kInfinity;
  }
  if (!all_below_infinity) {
    const auto bad = std::find_if_not(logits.begin(), logits.end(), [](float logit) { return logit < kInfinity; });
    return make_error(StatusCode::device_error, "logit of token " + std::to_string(bad - logits.begin()) + " is " +
                                                    (std::isnan(*bad) ? "NaN" : "infinite"));
  }
  if (!any_possible) return make_error(StatusCode::device_error, "every logit is minus infinity");
  return ok_status();
}

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

// The lowest id among the highest. In lanes, because a single running maximum would wait for itself at each step.
int32_t first_highest(std::span<const float> logits) noexcept {
  constexpr size_t kLanes = 32;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, kMinusInfinity);
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = std::max(lanes[lane], logits[i + lane]);
  float highest = *std::max_element(lanes, lanes + kLanes);
  for (; i < logits.size(); ++i) highest = std::max(highest, logits[i]);
  return static_cast<int32_t>(std::find(logits.begin(), logits.end(), highest) - logits.begin());
}

}  // namespace

Sampler::Sampler(int32_t vocab_size) : changed_(static_cast<size_t>(std::max(vocab_size, 0))) {
  candidates_.reserve(changed_.size());
  scratch_.reserve(changed_.size());
}

bool Sampler::more_likely(const Candidate& a, const Candidate& b) noexcept {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

Status Sampler::sample(const SampleInput& input, SampleOutput& output) {
  PAGODA_RETURN_IF_ERROR(check_logits(input.logits, changed_.size()));
  if (input.forced_id >= 0 && static_cast<size_t>(input.forced_id) < changed_.size()) {
    output.token_id = input.forced_id;
  } else {
    PAGODA_RETURN_IF_ERROR(adjust(input));
    pick(input, output);
  }
  fill_logprobs(input, output);
  return ok_status();
}

void Sampler::pick(const SampleInput& input, SampleOutput& output) {
  const SamplingParams& params = *input.params;
  if (params.temperature == 0.0f) {
    output.token_id = first_highest(adjusted_);
    return;
  }
  gather_top_k(params.top_k);
  weigh(params.temperature, params.min_p);
  keep_top_p(params.top_p);
  output.token_id = draw(uniform_double_at(input.seed, input.token_index));
}

Status Sampler::adjust(const SampleInput& input) {
  adjusted_ = input.logits;
  if (!changes_logits(input)) return ok_status();
  std::copy(input.logits.begin(), input.logits.end(), changed_.begin());
  adjusted_ = changed_;
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
  float highest = kMinusInfinity;
  for (float& logit : changed_) highest = std::max(highest, logit = std::min(logit, kHighest));
  if (highest == kMinusInfinity)
    return make_error(StatusCode::invalid_argument, "logit_bias, banned ids and the grammar leave no token to sample");
  return ok_status();
}

// Fills candidates_ with the top_k most likely (0: all that are possible), by ascending id.
void Sampler::gather_top_k(int32_t top_k) {
  candidates_.clear();
  const size_t limit = top_k > 0 ? static_cast<size_t>(top_k) : adjusted_.size();
  for (size_t id = 0; id < adjusted_.size(); ++id) {
    if (adjusted_[id] == kMinusInfinity) continue;
    const Candidate candidate{adjusted_[id], static_cast<int32_t>(id), 0.0};
    if (limit >= adjusted_.size()) {
      candidates_.push_back(candidate);
    } else if (candidates_.size() < limit) {
      candidates_.push_back(candidate);
      std::push_heap(candidates_.begin(), candidates_.end(), more_likely);  // the least likely is in front
    } else if (more_likely(candidate, candidates_.front())) {
      std::pop_heap(candidates_.begin(), candidates_.end(), more_likely);
      candidates_.back() = candidate;
      std::push_heap(candidates_.begin(), candidates_.end(), more_likely);
    }
  }
  if (limit < adjusted_.size()) {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  }
}

// min-p compares with the most likely token, whose weight is 1; it commutes with top-k, which ran before.
void Sampler::weigh(float temperature, float min_p) {
  float highest = kMinusInfinity;
  for (const Candidate& candidate : candidates_) highest = std::max(highest, candidate.logit);
  for (Candidate& candidate : candidates_) {
    const double distance = static_cast<double>(candidate.logit) - static_cast<double>(highest);
    candidate.weight = std::exp(distance / static_cast<double>(temperature));
  }
  if (min_p > 0.0f) {
    std::erase_if(candidates_, [min_p](const Candidate& c) { return c.weight < static_cast<double>(min_p); });
  }
}

// Keeps the most likely tokens until their mass reaches top_p: a token stays if those before it weigh less than that.
// Weighted quickselect: halves the range that holds the last kept token, O(n) in all.
void Sampler::keep_top_p(float top_p) {
  if (top_p >= 1.0f) return;
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  double wanted = static_cast<double>(top_p) * total;
  // Tokens below an equal share of the rest, 1 - top_p, weigh less than that rest together: the last kept token is not
  // among them. Half of it leaves room for rounding.
  const double least = 0.5 * (total - wanted) / static_cast<double>(candidates_.size());
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
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  const double target = uniform * total;
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

// Of the raw logits. The sum runs in double and in id order, so its bits do not depend on what was sampled how.
void Sampler::fill_logprobs(const SampleInput& input, SampleOutput& output) {
  output.logprob = 0.0f;
  output.top_logprobs.clear();
  if (input.params->num_top_logprobs < 0) return;
  const double highest = *std::max_element(input.logits.begin(), input.logits.end());
  double sum = 0;
  for (const float logit : input.logits) sum += std::exp(static_cast<double>(logit) - highest);
  const double log_total = highest + std::log(sum);
  const auto logprob = [&](float logit) { return static_cast<float>(static_cast<double>(logit) - log_total); };
  output.logprob = logprob(input.logits[static_cast<size_t>(output.token_id)]);

  scratch_.clear();
  const size_t wanted = std::min(static_cast<size_t>(input.params->num_top_logprobs), input.logits.size());
  for (size_t id = 0; id < input.logits.size() && wanted > 0; ++id) {
    const Candidate candidate{input.logits[id], static_cast<int32_t>(id), 0.0};
    if (scratch_.size() == wanted) {
      if (!more_likely(candidate, scratch_.back())) continue;
      scratch_.pop_back();
    }
    scratch_.insert(std::upper_bound(scratch_.begin(), scratch_.end(), candidate, more_likely), candidate);
  }
  for (const Candidate& candidate : scratch_) output.top_logprobs.push_back({candidate.id, logprob(candidate.logit)});
}

}  // namespace pagoda::sampler
