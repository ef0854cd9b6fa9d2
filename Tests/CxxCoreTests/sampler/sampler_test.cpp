// The sampler compared with a slow reference that sorts everything and computes the full distribution, and by
// frequencies.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "sampler/sampler.h"
#include "support/test.h"

using namespace pagoda;
using sampler::SampleInput;
using sampler::SampleOutput;
using sampler::Sampler;
using sampler::TokenCounts;

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::vector<float> random_logits(uint64_t seed, size_t vocab, float scale = 3.0f) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> logits(vocab);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

SampleInput input_of(const std::vector<float>& logits, const SamplingParams& params, uint64_t seed = 1,
                     uint64_t index = 0) {
  SampleInput input;
  input.logits = logits;
  input.params = &params;
  input.seed = seed;
  input.token_index = index;
  return input;
}

int32_t sampled(const std::vector<float>& logits, const SamplingParams& params, uint64_t seed = 1, uint64_t index = 0) {
  Sampler sampler(static_cast<int32_t>(logits.size()));
  SampleOutput output;
  CHECK_OK(sampler.sample(input_of(logits, params, seed, index), output));
  return output.token_id;
}

// The slow reference: token -> probability, after every rule, by a full sort.
std::map<int32_t, double> reference_distribution(const SampleInput& input) {
  const SamplingParams& p = *input.params;
  std::vector<double> logits(input.logits.begin(), input.logits.end());
  for (const LogitBias& entry : p.logit_bias) {
    double& logit = logits[static_cast<size_t>(entry.token_id)];
    logit = entry.bias <= -100 ? -HUGE_VAL : logit + entry.bias;
  }
  for (size_t id = 0; id < logits.size() && input.counts != nullptr; ++id) {
    const uint32_t count = input.counts->output.empty() ? 0 : input.counts->output[id];
    const bool seen = count > 0 || (!input.counts->in_prompt.empty() && input.counts->in_prompt[id] != 0);
    if (seen) logits[id] = logits[id] > 0 ? logits[id] / p.repetition_penalty : logits[id] * p.repetition_penalty;
    if (count > 0) logits[id] -= p.presence_penalty + p.frequency_penalty * count;
  }
  for (const int32_t id : input.banned) logits[static_cast<size_t>(id)] = -HUGE_VAL;
  std::vector<std::pair<double, int32_t>> order;  // (-probability, id): most likely first, lower id on ties
  double highest = -HUGE_VAL, total = 0;
  for (const double logit : logits) highest = std::max(highest, logit);
  for (size_t id = 0; id < logits.size(); ++id) {
    const double weight = std::exp((logits[id] - highest) / p.temperature);
    if (weight > 0 && weight >= p.min_p) order.push_back({-weight, static_cast<int32_t>(id)});
  }
  std::sort(order.begin(), order.end());
  if (p.top_k > 0 && order.size() > static_cast<size_t>(p.top_k)) order.resize(static_cast<size_t>(p.top_k));
  for (const auto& [weight, id] : order) total -= weight;
  std::map<int32_t, double> kept;
  double before = 0, kept_total = 0;
  for (const auto& [weight, id] : order) {
    if (p.top_p < 1 && before >= p.top_p * total) break;
    before -= weight;
    kept[id] = -weight;
    kept_total -= weight;
  }
  for (auto& [id, probability] : kept) probability /= kept_total;
  return kept;
}

// Frequencies of `draws` tokens must be within five standard deviations of the reference probabilities, and tokens
// outside its support must never be drawn.
void check_against_reference(SampleInput input, int draws) {
  const auto expected = reference_distribution(input);
  Sampler sampler(static_cast<int32_t>(input.logits.size()));
  std::map<int32_t, int> counts;
  SampleOutput output;
  for (int i = 0; i < draws; ++i) {
    input.token_index = static_cast<uint64_t>(i);
    REQUIRE_OK(sampler.sample(input, output));
    ++counts[output.token_id];
  }
  for (const auto& [id, count] : counts) {
    if (expected.count(id) == 0) CHECK_EQ(id, -1);
  }
  for (const auto& [id, probability] : expected) {
    const double tolerance = 5 * std::sqrt(draws * probability * (1 - probability)) + 1;
    if (std::abs(counts[id] - draws * probability) > tolerance) CHECK_EQ(counts[id], draws * probability);
  }
}

}  // namespace

PAGODA_TEST(sampler_greedy_takes_the_lowest_of_equal_ids) {
  SamplingParams greedy;
  CHECK_EQ(sampled({1, 5, 5, 2}, greedy), 1);
  CHECK_EQ(sampled({7}, greedy), 0);
  CHECK_EQ(sampled({kMinusInfinity, -3e38f}, greedy), 1);
}

PAGODA_TEST(sampler_frequencies_equal_the_reference) {
  const uint64_t seed = test::seed(5);
  const auto logits = random_logits(seed, 40, 2.0f);
  TokenCounts counts;
  counts.output.assign(40, 0);
  counts.in_prompt.assign(40, 0);
  counts.output[3] = 2, counts.output[17] = 1, counts.in_prompt[5] = counts.in_prompt[17] = 1;
  struct Row {
    float temperature, top_p, min_p, repetition, presence, frequency;
    int32_t top_k;
  };
  const Row rows[] = {
      {1, 1, 0, 1, 0, 0, 0},           {0.7f, 1, 0, 1, 0, 0, 0},           {1, 1, 0, 1, 0, 0, 5},
      {1, 0.8f, 0, 1, 0, 0, 0},        {1, 1, 0.1f, 1, 0, 0, 0},           {1.5f, 0.9f, 0.02f, 1, 0, 0, 20},
      {1, 1, 0, 1.3f, 0, 0, 0},        {1, 1, 0, 1, 1.5f, 0, 0},           {1, 1, 0, 1, 0, -1.0f, 0},
      {0.7f, 0.8f, 0, 1, 1.5f, 0, 20}, {2, 0.95f, 0.05f, 0.8f, -1, 1, 30}, {1, 1e-6f, 0, 1, 0, 0, 0}};
  for (const Row& row : rows) {
    SamplingParams params;
    params.temperature = row.temperature, params.top_p = row.top_p, params.min_p = row.min_p;
    params.repetition_penalty = row.repetition, params.presence_penalty = row.presence;
    params.frequency_penalty = row.frequency, params.top_k = row.top_k;
    params.logit_bias = {{1, 2.5f}, {2, -100.0f}};
    const int32_t banned[] = {4, 9};
    SampleInput input = input_of(logits, params, seed);
    input.counts = &counts;
    input.banned = banned;
    check_against_reference(input, 8000);
  }
}

// With top-p at each boundary between tokens, the support equals the reference's, for any sizes and ties.
PAGODA_TEST(sampler_support_equals_the_reference_on_random_rows) {
  std::mt19937_64 random(test::seed(77));
  for (int round = 0; round < 150; ++round) {
    const size_t vocab = 1 + random() % 60;
    auto logits = random_logits(random(), vocab, 2.0f);
    for (float& logit : logits) {
      if (random() % 4 == 0) logit = std::round(logit);  // ties
      if (random() % 8 == 0 && vocab > 1) logit = kMinusInfinity;
    }
    logits[random() % vocab] = 1.0f;
    SamplingParams params;
    params.temperature = 0.2f + static_cast<float>(random() % 100) / 40;
    params.top_k = static_cast<int32_t>(random() % (vocab + 2));
    params.top_p = random() % 3 == 0 ? 1.0f : static_cast<float>(1 + random() % 98) / 99.5f;
    params.min_p = random() % 2 == 0 ? 0.0f : static_cast<float>(random() % 50) / 100;
    SampleInput input = input_of(logits, params, random());
    const auto expected = reference_distribution(input);
    Sampler sampler(static_cast<int32_t>(vocab));
    SampleOutput output;
    for (uint64_t i = 0; i < 60; ++i) {
      input.token_index = i;
      REQUIRE_OK(sampler.sample(input, output));
      if (expected.count(output.token_id) == 0) {
        test::note("round " + std::to_string(round));
        CHECK_EQ(output.token_id, -1);
      }
    }
  }
}

PAGODA_TEST(sampler_depends_on_seed_and_index_only) {
  const auto logits = random_logits(test::seed(9), 500);
  SamplingParams params;
  params.temperature = 1.0f, params.top_p = 0.95f, params.top_k = 50;
  Sampler used(500);
  SampleOutput output;
  int differing = 0;
  for (uint64_t index = 0; index < 50; ++index) {
    REQUIRE_OK(used.sample(input_of(logits, params, 1234, index), output));
    CHECK_EQ(output.token_id, sampled(logits, params, 1234, index));
    differing += output.token_id != sampled(logits, params, 1235, index);
  }
  CHECK(differing > 10);
}

PAGODA_TEST(sampler_bans_and_biases_hold_for_greedy) {
  SamplingParams params;
  const std::vector<float> logits{1, 9, 8, 7};
  const int32_t banned[] = {1, 99, -5};
  SampleInput input = input_of(logits, params);
  input.banned = banned;
  Sampler sampler(4);
  SampleOutput output;
  REQUIRE_OK(sampler.sample(input, output));
  CHECK_EQ(output.token_id, 2);
  params.logit_bias = {{2, -100}, {0, 6.5f}};
  REQUIRE_OK(sampler.sample(input, output));
  CHECK_EQ(output.token_id, 0);
}

PAGODA_TEST(sampler_penalties_move_the_greedy_choice) {
  const std::vector<float> logits{4, 3, -1, -2};
  TokenCounts counts;
  counts.output = {3, 0, 0, 0};
  counts.in_prompt = {0, 0, 1, 0};
  SamplingParams params;
  Sampler sampler(4);
  const auto choice = [&](const std::vector<float>& row) {
    SampleOutput output;
    SampleInput input = input_of(row, params);
    input.counts = &counts;
    CHECK_OK(sampler.sample(input, output));
    return output.token_id;
  };
  CHECK_EQ(choice(logits), 0);
  params.repetition_penalty = 1.5f;  // 4 / 1.5 < 3
  CHECK_EQ(choice(logits), 1);
  CHECK_EQ(choice({-9, -9, -1, -1.4f}), 3);  // -1 * 1.5 < -1.4
  params.repetition_penalty = 0.5f;
  CHECK_EQ(choice({1, 1.9f, -5, -5}), 0);  // 1 / 0.5 > 1.9
  params.repetition_penalty = 1.0f;
  params.presence_penalty = 0.9f;
  CHECK_EQ(choice(logits), 0);
  params.presence_penalty = 1.1f;
  CHECK_EQ(choice(logits), 1);
  params.presence_penalty = 0.0f;
  params.frequency_penalty = 0.3f;  // three times
  CHECK_EQ(choice(logits), 0);
  params.frequency_penalty = 0.4f;
  CHECK_EQ(choice(logits), 1);
}

PAGODA_TEST(sampler_tiny_and_huge_temperatures_stay_finite) {
  const std::vector<float> logits{-3e38f, 3e38f, 3e38f, 0};
  SamplingParams params;
  params.temperature = 1e-30f;
  const int32_t token = sampled(logits, params);
  CHECK(token == 1 || token == 2);
  params.temperature = 100;
  params.logit_bias = {{1, 3e38f}, {2, 3e38f}};
  CHECK(sampled(logits, params) >= 1);
}

PAGODA_TEST(sampler_refuses_bad_logits) {
  SamplingParams params;
  Sampler sampler(3);
  SampleOutput output;
  const auto code = [&](std::vector<float> logits) { return sampler.sample(input_of(logits, params), output).code; };
  CHECK(code({1, std::nanf(""), 2}) == StatusCode::device_error);
  CHECK(code({1, HUGE_VALF, 2}) == StatusCode::device_error);
  CHECK(code({kMinusInfinity, kMinusInfinity, kMinusInfinity}) == StatusCode::device_error);
  CHECK(code({1, 2}) == StatusCode::internal);
  CHECK(code({kMinusInfinity, 1, 2}) == StatusCode::ok);
  params.logit_bias = {{1, -200}, {2, -200}};
  CHECK(code({kMinusInfinity, 1, 2}) == StatusCode::invalid_argument);
}

PAGODA_TEST(sampler_logprobs_are_of_the_raw_distribution) {
  SamplingParams params;
  params.num_top_logprobs = 3;
  params.logit_bias = {{3, 50}};
  params.temperature = 0.5f;
  const std::vector<float> logits{1, 2, 2, 0, kMinusInfinity};
  Sampler sampler(5);
  SampleOutput output;
  REQUIRE_OK(sampler.sample(input_of(logits, params), output));
  CHECK_EQ(output.token_id, 3);
  const double total = std::log(std::exp(1.0) + 2 * std::exp(2.0) + 1);
  CHECK(std::abs(output.logprob - (0 - total)) < 1e-6);
  REQUIRE(output.top_logprobs.size() == 3);
  CHECK_EQ(output.top_logprobs[0].token_id, 1);
  CHECK_EQ(output.top_logprobs[1].token_id, 2);
  CHECK_EQ(output.top_logprobs[2].token_id, 0);
  CHECK(std::abs(output.top_logprobs[0].logprob - (2 - total)) < 1e-6);
  params.num_top_logprobs = 20;  // more than there are tokens
  REQUIRE_OK(sampler.sample(input_of(logits, params), output));
  CHECK_EQ(output.top_logprobs.size(), size_t{5});
  params.num_top_logprobs = -1;
  REQUIRE_OK(sampler.sample(input_of(logits, params), output));
  CHECK(output.top_logprobs.empty());
}

PAGODA_TEST(sampler_takes_only_what_the_mask_allows) {
  SamplingParams params;
  params.logit_bias = {{5, 50.0f}};
  const std::vector<uint64_t> mask = {uint64_t{1} << 3 | uint64_t{1} << 63, uint64_t{1} << 6};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<float> logits = random_logits(seed, 100);
    params.temperature = seed % 2 ? 1.5f : 0.0f;
    params.top_k = seed % 3 == 0 ? 2 : 0;
    SampleInput input = input_of(logits, params, seed);
    input.allowed = mask;
    Sampler sampler(100);
    SampleOutput output;
    CHECK_OK(sampler.sample(input, output));
    CHECK(output.token_id == 3 || output.token_id == 63 || output.token_id == 70);
    input.forced_id = 41;
    CHECK_OK(sampler.sample(input, output));
    CHECK_EQ(output.token_id, 41);
  }
  const std::vector<uint64_t> nothing = {0, 0};
  const std::vector<float> logits = random_logits(1, 100);
  SampleInput input = input_of(logits, params);
  input.allowed = nothing;
  Sampler sampler(100);
  SampleOutput output;
  CHECK(sampler.sample(input, output).message.find("no token") != std::string::npos);
}

// The argmax equals the sampler's token whenever draw_of() requests it and nothing changes the logits.
PAGODA_TEST(sampler_takes_the_highest_where_it_says_so) {
  std::mt19937_64 random(test::seed(83));
  int num_taken = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<float> logits = random_logits(random(), 300);
    for (float& logit : logits) logit = std::round(logit);
    const auto one_in = [&](uint64_t n) { return random() % n == 0; };
    SamplingParams params;
    params.temperature = one_in(2) ? 0.0f : 0.9f;
    params.top_k = one_in(2) ? 1 : one_in(2) ? 5 : 0;
    params.top_p = one_in(2) ? 1.0f : 0.1f;
    params.min_p = one_in(4) ? 0.99f : 0.0f;
    if (one_in(4)) params.logit_bias = {{static_cast<int32_t>(random() % 300), 20.0f}};
    if (one_in(4)) params.num_top_logprobs = 0;
    params.presence_penalty = one_in(4) ? 2.0f : 0.0f;
    TokenCounts counts;
    if (params.presence_penalty != 0) counts.output.assign(300, 1), counts.output[random() % 300] = 0;
    SampleInput input = input_of(logits, params, random());
    input.counts = &counts;
    const int32_t highest = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    const std::vector<uint64_t> allowed(5, one_in(2) ? 0x5555555555555555u : 0xaaaaaaaaaaaaaaaau);
    if (one_in(4)) input.allowed = allowed;
    if (one_in(4)) input.banned = {&highest, 1};
    if (one_in(8)) input.forced_id = static_cast<int32_t>(random() % 300);
    const Draw draw = sampler::draw_of(input, 64);
    if (draw.top_k != 1 || !draw.is_argmax() || sampler::changes_logits(input)) continue;
    ++num_taken;
    SampleOutput output;
    Sampler sampler(300);
    CHECK_OK(sampler.sample(input, output));
    CHECK_EQ(output.token_id, highest);
    CHECK_EQ(output.logprob, 0.0f);
    CHECK(output.top_logprobs.empty());
  }
  CHECK(num_taken > 50);
}
