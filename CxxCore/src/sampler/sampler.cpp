// Samples one token from a row of logits: adjust, truncate, draw. Selections are partial; nothing is sorted fully.
#include "sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/concat.h"
#include "sampler/philox.h"

namespace pagoda::sampler {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMinusInfinity = -kInfinity;
constexpr int32_t kWholeTopK = 64;          // devices whose top_k may be less sample no rows without top-k
constexpr uint64_t kExclusions = 0x787463;  // XTC's random numbers are independent of the draws

// Upper 64 bits of the 128-bit product: `a` times the fraction b / 2^64.
uint64_t multiply_high(uint64_t a, uint64_t b) noexcept {
  constexpr uint64_t kLow = 0xffffffff;
  const uint64_t middle = (a >> 32) * (b & kLow) + ((a & kLow) * (b & kLow) >> 32);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (((a & kLow) * (b >> 32) + (middle & kLow)) >> 32);
}

uint64_t fraction_of(float part) noexcept {
  return part < 1.0f ? static_cast<uint64_t>(static_cast<double>(part) * 0x1p64) : ~uint64_t{0};
}

uint64_t min_weight_of(float min_p) noexcept {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(min_p) * static_cast<double>(kWeightOne)));
}

// The mass that the most likely tokens must reach together; + 1 keeps the first token for any top-p.
uint64_t mass_of(uint64_t total, uint64_t top_p) noexcept { return multiply_high(total, top_p) + 1; }

// Lower bound of the last kept token's weight: tokens that are all below an equal share of the rest weigh less together
// than the rest. A little less, because a more likely token may weigh less by its rounding.
uint64_t least_kept(uint64_t wanted, uint64_t total, size_t num_tokens) noexcept {
  const uint64_t share = (total - wanted) / num_tokens;
  return share - std::min(share, share / 256 + 1);
}

}  // namespace

void TokenCounts::note_output(int32_t id) noexcept {
  const auto at = static_cast<size_t>(id);
  if (output[at]++ == 0 && (in_prompt.empty() || in_prompt[at] == 0)) ids.push_back(id);
}

void TokenCounts::note_prompt(int32_t id) noexcept {
  const auto at = static_cast<size_t>(id);
  if (in_prompt[at] == 0 && output[at] == 0) ids.push_back(id);
  in_prompt[at] = 1;
}

bool changes_logits(const SampleInput& input) noexcept {
  return input.dry_scratch != nullptr || input.params->top_n_sigma > 0 || !input.params->logit_bias.empty() ||
         !input.banned.empty() || !input.allowed.empty() ||
         (input.counts != nullptr && !(input.counts->output.empty() && input.counts->in_prompt.empty()));
}

bool is_admissible(const SampleInput& input, int32_t id) noexcept {
  const size_t word = static_cast<size_t>(id) / 64;
  const bool is_allowed = word < input.allowed.size() && (input.allowed[word] >> (id % 64) & 1) != 0;
  return (input.allowed.empty() || is_allowed) && std::ranges::find(input.banned, id) == input.banned.end();
}

Draw draw_of(const SampleInput& input, int32_t max_top_k) noexcept {
  const SamplingParams& params = *input.params;
  if (input.forced_id >= 0) return {};
  if (input.dry_scratch != nullptr || params.top_n_sigma > 0) return {};
  if (params.xtc_probability > 0 || params.dynatemp_range > 0) return {};
  const bool takes_highest = params.temperature == 0.0f || params.top_k == 1;
  const bool is_whole = !takes_highest && params.top_k < 1;
  if (!takes_highest && (is_whole ? max_top_k < kWholeTopK : params.top_k > max_top_k)) return {};
  const int32_t top_k = takes_highest ? 1 : is_whole ? kWholeTopK : params.top_k;
  return {
      .top_p = fraction_of(params.top_p),
      .min_weight = min_weight_of(params.min_p),
      .random = random_bits_at(input.seed, input.token_index),
      .temperature = takes_highest ? 1.0f : params.temperature,
      .top_k = static_cast<uint32_t>(top_k),
      .is_whole = is_whole ? 1u : 0u,
      .num_logprobs = params.num_top_logprobs < 0 ? 0u : static_cast<uint32_t>(std::max(params.num_top_logprobs, 1))};
}

Sampler::Sampler(int32_t vocab_size)
    : raw_(static_cast<size_t>(std::max(vocab_size, 0))),
      adjusted_(static_cast<size_t>(std::max(vocab_size, 0))),
      changed_(static_cast<size_t>(std::max(vocab_size, 0))),
      is_changed_(adjusted_.num_blocks()),
      listed_(changed_.size()) {
  candidates_.reserve(changed_.size());
  scratch_.reserve(changed_.size());
}

bool Sampler::more_likely(const Candidate& a, const Candidate& b) noexcept {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

Status Sampler::check(const SampleInput& input) {
  const std::span<const float> logits = input.logits;
  if (logits.size() != changed_.size()) {
    return make_error(StatusCode::internal,
                      concat("sampler made for a vocabulary of ", changed_.size(), " got ", logits.size(), " logits"));
  }
  if (!raw_.survey(logits)) {
    const auto bad = std::find_if_not(logits.begin(), logits.end(), [](float logit) { return logit < kInfinity; });
    return make_error(StatusCode::device_error,
                      concat("logit of token ", bad - logits.begin(), " is ", std::isnan(*bad) ? "NaN" : "infinite"));
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

int32_t Sampler::pick(const SampleInput& input) {
  const SamplingParams& params = *input.params;
  const float temperature = temperature_for(params);
  if (temperature == 0.0f) return adjusted_.first_highest();
  const uint64_t random = random_bits_at(input.seed, input.token_index);
  const bool excludes = params.xtc_probability > 0 && random_bits_at(input.seed ^ kExclusions, input.token_index) <
                                                          fraction_of(params.xtc_probability);
  if (!truncate(params, temperature, excludes))
    return adjusted_.id_at(multiply_high(adjusted_.sum_weights(temperature), random), temperature);
  if (excludes) exclude_top_choices(params.xtc_threshold);
  return draw(random);
}

// top-k, then min-p (relative to the most likely token, whose weight is 1), then top-p of the remaining tokens, which
// become the candidates. False if every token remains, and they are not needed as candidates.
bool Sampler::truncate(const SamplingParams& params, float temperature, bool needs_all) {
  const uint64_t top_p = fraction_of(params.top_p), min_weight = min_weight_of(params.min_p);
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < changed_.size()) {
    gather(static_cast<size_t>(params.top_k));
    weigh(temperature);
    std::erase_if(candidates_, [min_weight](const Candidate& c) { return c.weight < min_weight; });
  } else if (min_weight > 0) {
    gather_from(min_weight, min_weight, temperature);
  } else if (params.top_p >= 1) {
    if (needs_all) gather_from(1, 1, temperature);
    return needs_all;
  } else {
    gather_mass(top_p, temperature);
    return true;
  }
  const uint64_t total = total_weight(), wanted = mass_of(total, top_p);
  if (params.top_p < 1) keep_top_p(wanted, least_kept(wanted, total, candidates_.size()));
  return true;
}

Status Sampler::adjust(const SampleInput& input) {
  if (!changes_logits(input)) {
    adjusted_ = raw_;
    return ok_status();
  }
  change(input);
  if (input.params->top_n_sigma > 0) keep_top_n_sigma(input.params->top_n_sigma);
  if (adjusted_.highest() == kMinusInfinity)
    return make_error(StatusCode::invalid_argument, "logit_bias, banned ids and the grammar leave no token to sample");
  return ok_status();
}

void Sampler::gather(size_t count) {
  candidates_.clear();
  adjusted_.for_each_from(adjusted_.reached_by(count), [this](int32_t id, float logit) {
    if (logit > kMinusInfinity) candidates_.push_back({logit, id, 0});
  });
  if (candidates_.size() <= count) return;
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(candidates_.begin(), end, candidates_.end(), more_likely);
  candidates_.erase(end, candidates_.end());
  std::ranges::sort(candidates_, {}, &Candidate::id);
}

// Slightly below the logit of that weight, for rounding.
float Sampler::bound_of(uint64_t weight, float temperature) const noexcept {
  const double part = static_cast<double>(weight) / static_cast<double>(kWeightOne);
  const float distance = static_cast<float>(std::log(part)) * temperature * 1.001f - temperature * 1e-3f;
  const float bound = adjusted_.highest() + distance;
  return bound - std::abs(bound) * 1e-5f;
}

void Sampler::gather_from(uint64_t bound_weight, uint64_t least, float temperature) {
  candidates_.clear();
  adjusted_.for_each_from(bound_of(bound_weight, temperature), [&](int32_t id, float logit) {
    const uint64_t weight = whole_weight(weight_of((logit - adjusted_.highest()) / temperature));
    if (weight >= least) candidates_.push_back({logit, id, weight});
  });
}

// The most likely tokens that have the mass of top_p together. Those above a bound are listed; the weight of the others
// decides only how much of them is wanted, and bounds of it usually suffice: if the tokens that reach the least mass
// that may be wanted also reach the most, they are those that reach the exact mass.
void Sampler::gather_mass(uint64_t top_p, float temperature) {
  const float first = adjusted_.reached_in_most_blocks();
  listed_.clear();
  const LogitBlocks::Bounds others =
      adjusted_.split_at(first, temperature, [this](int32_t id, float logit) { listed_.add(id, logit); });
  const uint64_t mass = listed_.weigh(adjusted_, temperature);
  const uint64_t most = mass_of(mass + others.most, top_p);
  if (mass < most) return gather_mass_exactly(top_p, temperature, first);
  keep_listed(mass_of(mass + others.least, top_p));
  if (total_weight() < most) gather_mass_exactly(top_p, temperature, first);
}

// If those listed weigh too little, the bound is lowered until they do: at the least kept weight, any mass is reached.
void Sampler::gather_mass_exactly(uint64_t top_p, float temperature, float first) {
  const auto list = [this](int32_t id, float logit) { listed_.add(id, logit); };
  const uint64_t total = adjusted_.sum_weights(temperature), wanted = mass_of(total, top_p);
  const uint64_t least = least_kept(wanted, total, changed_.size());
  uint64_t mass = listed_.weigh(adjusted_, temperature);
  for (uint64_t weight = kWeightOne >> 6; mass < wanted; weight >>= 3) {
    const float bound = bound_of(std::max(weight, least), temperature);
    // Blocks that weigh too little have no tokens that weigh enough.
    if (weight > least && (bound >= first || adjusted_.sum_of_blocks_from(bound) < wanted)) continue;
    listed_.clear();
    adjusted_.for_each_from(bound, list);
    mass = listed_.weigh(adjusted_, temperature);
    if (weight <= least) break;
  }
  keep_listed(wanted);
}

void Sampler::keep_listed(uint64_t wanted) {
  candidates_.clear();
  listed_.keep(wanted,
               [this](float logit, int32_t id, uint64_t weight) { candidates_.push_back({logit, id, weight}); });
}

void Sampler::weigh(float temperature) {
  for (Candidate& candidate : candidates_)
    candidate.weight = whole_weight(weight_of((candidate.logit - adjusted_.highest()) / temperature));
}

uint64_t Sampler::total_weight() const noexcept {
  uint64_t total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  return total;
}

// Keeps the most likely tokens until their mass reaches `wanted`: a token stays if those before it weigh less than
// that. Tokens lighter than `least` are never kept. Weighted quickselect: halves the range that contains the last kept
// token; O(n) in total.
void Sampler::keep_top_p(uint64_t wanted, uint64_t least) {
  scratch_.clear();
  for (const Candidate& candidate : candidates_) {
    if (candidate.weight >= least) scratch_.push_back(candidate);
  }
  auto begin = scratch_.begin(), end = scratch_.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, more_likely);
    uint64_t upper_half = 0;
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

int32_t Sampler::draw(uint64_t random) const noexcept {
  uint64_t target = multiply_high(total_weight(), random);
  for (const Candidate& candidate : candidates_) {
    if (target < candidate.weight) return candidate.id;
    target -= candidate.weight;
  }
  return candidates_.back().id;  // unreachable: the target is below the sum
}

namespace {

// The logarithm of the sum of all tokens' e^logit, from the sum of their weights.
double log_total_of(uint64_t total, float highest) {
  return static_cast<double>(highest) + std::log(static_cast<double>(total) / static_cast<double>(kWeightOne));
}

}  // namespace

void fill_logprobs(const RowScore& score, int32_t num_top_logprobs, SampleOutput& output) {
  const double log_total = log_total_of(score.total, score.highest);
  const auto logprob = [&](float logit) { return static_cast<float>(static_cast<double>(logit) - log_total); };
  output.logprob = logprob(score.chosen);
  output.top_logprobs.clear();
  int32_t order[kMaxTopLogprobs];
  const int32_t count = std::clamp(num_top_logprobs, 0, kMaxTopLogprobs);
  for (int32_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order, order + count, [&](int32_t a, int32_t b) {
    return score.logits[a] != score.logits[b] ? score.logits[a] > score.logits[b] : score.ids[a] < score.ids[b];
  });
  for (int32_t i = 0; i < count; ++i)
    output.top_logprobs.push_back({static_cast<int32_t>(score.ids[order[i]]), logprob(score.logits[order[i]])});
}

// Log probabilities of the raw logits, independent of the sampling parameters.
void Sampler::fill_logprobs(const SampleInput& input, SampleOutput& output) {
  output.logprob = 0.0f;
  output.top_logprobs.clear();
  if (input.params->num_top_logprobs < 0) return;
  const double log_total = log_total_of(raw_.sum_weights(1.0f), raw_.highest());
  const auto logprob = [&](float logit) { return static_cast<float>(static_cast<double>(logit) - log_total); };
  output.logprob = logprob(input.logits[output.token_id]);

  const size_t wanted = std::min(static_cast<size_t>(input.params->num_top_logprobs), input.logits.size());
  if (wanted == 0) return;
  scratch_.clear();
  raw_.for_each_from(raw_.reached_by(wanted), [this](int32_t id, float logit) { scratch_.push_back({logit, id, 0}); });
  const size_t count = std::min(wanted, scratch_.size());
  std::partial_sort(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(count), scratch_.end(),
                    more_likely);
  for (size_t i = 0; i < count; ++i) output.top_logprobs.push_back({scratch_[i].id, logprob(scratch_[i].logit)});
}

}  // namespace pagoda::sampler
