// DRY, top-n-sigma, XTC and dynamic temperature compared with slow, direct forms of their definitions.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "sampler/sampler.h"
#include "support/test.h"

using namespace pagoda;

namespace {

constexpr size_t kTokens = 300;

std::vector<float> row_of_logits(std::mt19937_64& random, float scale) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> logits(kTokens);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

int32_t sample_one(const std::vector<float>& logits, const SamplingParams& params, uint64_t seed) {
  sampler::Sampler sampler(static_cast<int32_t>(logits.size()));
  sampler::SampleInput input;
  input.logits = logits;
  input.params = &params;
  input.seed = seed;
  sampler::SampleOutput output;
  CHECK_OK(sampler.sample(input, output));
  return output.token_id;
}

std::set<int32_t> sampled_ids(const std::vector<float>& logits, const SamplingParams& params, int count) {
  std::set<int32_t> ids;
  for (int i = 0; i < count; ++i) ids.insert(sample_one(logits, params, static_cast<uint64_t>(i)));
  return ids;
}

using Breakers = std::shared_ptr<const std::vector<int32_t>>;

std::map<int32_t, int32_t> longest_repeats(const DryParams& dry, const Breakers& breakers,
                                           const std::vector<int32_t>& history) {
  const auto n = static_cast<int32_t>(history.size());
  const int32_t begin = dry.window < 0 ? 0 : std::max(0, n - dry.window);
  const auto is_breaker = [&](int32_t id) { return std::ranges::count(*breakers, id) > 0; };
  std::map<int32_t, int32_t> longest;
  for (int32_t end = begin; end < n - 1; ++end) {  // the earlier occurrence ends here
    int32_t length = 0;
    while (end - length >= begin && history[end - length] == history[n - 1 - length] &&
           !is_breaker(history[n - 1 - length]))
      ++length;
    if (length >= dry.allowed_length) longest[history[end + 1]] = std::max(longest[history[end + 1]], length);
  }
  return longest;
}

}  // namespace

PAGODA_TEST(sampler_dry_penalises_the_longest_repetition_of_each_token) {
  std::mt19937_64 random(test::seed(81));
  int num_penalised = 0;
  for (int round = 0; round < 300; ++round) {
    DryParams dry{.multiplier = 0.8f, .allowed_length = 1 + static_cast<int32_t>(random() % 4)};
    if (round % 3 == 0) dry.window = static_cast<int32_t>(random() % 80);
    std::vector<int32_t> ids;
    if (round % 2 == 0) ids = {1, 3};
    const auto breakers = std::make_shared<const std::vector<int32_t>>(ids);
    std::vector<int32_t> history(random() % 120);
    for (int32_t& id : history) id = static_cast<int32_t>(random() % (2 + round % 5));
    std::vector<float> logits(8, 1.0f), wanted = logits;
    for (const auto& [id, length] : longest_repeats(dry, breakers, history))
      wanted[id] -=
          std::min(dry.multiplier * std::pow(dry.base, static_cast<float>(length - dry.allowed_length)), 1e6f);
    num_penalised += static_cast<int>(std::ranges::count_if(wanted, [](float logit) { return logit < 1; }));
    sampler::DryScratch scratch(breakers, history.size());
    sampler::apply_dry(dry, history, scratch, logits);
    CHECK(logits == wanted);
  }
  CHECK(num_penalised > 100);
}

PAGODA_TEST(sampler_dry_changes_the_sampled_token) {
  SamplingParams params;
  params.dry.multiplier = 5;
  std::vector<float> logits(8, 0.0f);
  logits[4] = 3, logits[6] = 1;
  const std::vector<int32_t> history = {2, 3, 4, 5, 2, 3};
  sampler::Sampler sampler(8);
  sampler::DryScratch scratch(std::make_shared<const std::vector<int32_t>>(), history.size());
  sampler::SampleInput input{.logits = logits, .params = &params, .history = history, .dry_scratch = &scratch};
  sampler::SampleOutput output;
  CHECK_OK(sampler.sample(input, output));
  CHECK_EQ(output.token_id, 6);
  CHECK_EQ(sampler::draw_of(input, 32).top_k, 0u);  // a device must not sample it
}

PAGODA_TEST(sampler_top_n_sigma_drops_what_is_far_below_the_highest) {
  std::mt19937_64 random(test::seed(82));
  for (const float n : {0.5f, 1.0f, 2.0f}) {
    const std::vector<float> logits = row_of_logits(random, 0.5f);
    double sum = 0, squares = 0;
    for (const float logit : logits) sum += logit, squares += static_cast<double>(logit) * logit;
    const double mean = sum / kTokens, deviation = std::sqrt(squares / kTokens - mean * mean);
    const double least = *std::ranges::max_element(logits) - n * deviation;
    SamplingParams params{.temperature = 3.0f, .top_n_sigma = n};
    const std::set<int32_t> ids = sampled_ids(logits, params, 3000);
    for (size_t id = 0; id < kTokens; ++id)
      CHECK(!ids.contains(static_cast<int32_t>(id)) || logits[id] >= least - 1e-4);
    const auto kept = std::ranges::count_if(logits, [&](float logit) { return logit >= least + 1e-4; });
    CHECK(static_cast<std::ptrdiff_t>(ids.size()) >= kept);
  }
}

PAGODA_TEST(sampler_xtc_keeps_the_least_likely_of_the_likely_tokens) {
  const std::vector<float> logits = {std::log(0.4f), std::log(0.3f), std::log(0.2f), std::log(0.06f), std::log(0.04f)};
  SamplingParams params{.temperature = 1.0f, .xtc_probability = 1.0f, .xtc_threshold = 0.1f};
  const std::set<int32_t> rest = {2, 3, 4};
  CHECK(sampled_ids(logits, params, 500) == rest);
  params.top_k = 3;  // after truncation
  CHECK(sampled_ids(logits, params, 200) == std::set<int32_t>{2});
  params.xtc_threshold = 0.9f;  // no token is likely: nothing is dropped
  CHECK_EQ(sampled_ids(logits, params, 200).size(), 3u);
  params = {.temperature = 1.0f, .xtc_probability = 0.5f, .xtc_threshold = 0.1f};
  int num_first = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) num_first += sample_one(logits, params, seed) == 0;
  CHECK(num_first > 700 && num_first < 900);  // 0.4 of one half
}

PAGODA_TEST(sampler_dynamic_temperature_follows_the_entropy) {
  std::mt19937_64 random(test::seed(83));
  for (const float scale : {0.01f, 1.0f, 4.0f}) {
    const std::vector<float> logits = row_of_logits(random, scale);
    double total = 0, entropy = 0;
    for (const float logit : logits) total += std::exp(static_cast<double>(logit));
    for (const float logit : logits) {
      const double p = std::exp(static_cast<double>(logit)) / total;
      entropy -= p * std::log(p);
    }
    const double share = std::sqrt(entropy / std::log(static_cast<double>(kTokens)));
    SamplingParams dynamic{.temperature = 0.8f, .dynatemp_range = 0.5f, .dynatemp_exponent = 0.5f};
    SamplingParams fixed{.temperature = static_cast<float>(0.3 + share)};
    int num_equal = 0;
    for (uint64_t seed = 0; seed < 300; ++seed)
      num_equal += sample_one(logits, dynamic, seed) == sample_one(logits, fixed, seed);
    CHECK(num_equal >= 297);  // the temperatures may differ in their last bit
  }
  std::vector<float> certain(kTokens, -1000.0f);
  certain[7] = 1000;
  CHECK_EQ(sample_one(certain, {.temperature = 0.5f, .dynatemp_range = 0.5f}, 1), 7);
}
