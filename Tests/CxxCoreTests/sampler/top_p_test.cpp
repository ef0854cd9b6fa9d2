// Top-p without top-k takes the token that its definition in integers gives, whether the bounds of the unlikely tokens'
// weight decide what is kept or the exact sum does.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sampler/philox.h"
#include "sampler/sampler.h"
#include "support/test.h"

namespace pagoda::sampler {
namespace {

uint64_t share_of(uint64_t whole, uint64_t fraction) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(whole) * fraction >> 64);
}

struct Weighed {
  float logit;
  int32_t id;
  uint64_t weight;
};

// Sorts all tokens, and keeps those before which the mass is not reached, by ascending id.
std::vector<Weighed> defined_choices(const std::vector<float>& logits, float top_p, float temperature) {
  const float highest = *std::ranges::max_element(logits);
  std::vector<Weighed> tokens;
  uint64_t total = 0, mass = 0;
  for (const float logit : logits) {
    const uint64_t weight = whole_weight(weight_of((logit - highest) / temperature));
    tokens.push_back({logit, static_cast<int32_t>(tokens.size()), weight});
    total += weight;
  }
  std::ranges::sort(
      tokens, [](const Weighed& a, const Weighed& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; });
  const uint64_t wanted = share_of(total, static_cast<uint64_t>(static_cast<double>(top_p) * 0x1p64)) + 1;
  size_t count = 0;
  for (; mass < wanted; ++count) mass += tokens[count].weight;
  tokens.resize(count);
  std::ranges::sort(tokens, {}, &Weighed::id);
  return tokens;
}

// Draws among them.
int32_t drawn_from(const std::vector<Weighed>& tokens, uint64_t random) {
  uint64_t mass = 0;
  for (const Weighed& token : tokens) mass += token.weight;
  uint64_t target = share_of(mass, random);
  for (const Weighed& token : tokens) {
    if (target < token.weight) return token.id;
    target -= token.weight;
  }
  return -1;
}

void check_draws(const std::vector<float>& row, const SamplingParams& params, uint64_t seed) {
  const std::vector<Weighed> choices = defined_choices(row, params.top_p, params.temperature);
  Sampler sampler(static_cast<int32_t>(row.size()));
  SampleOutput output;
  for (uint64_t index = 0; index < 8; ++index) {
    SampleInput input;
    input.logits = row;
    input.params = &params;
    input.seed = seed;
    input.token_index = index;
    REQUIRE_OK(sampler.sample(input, output));
    CHECK_EQ(output.token_id, drawn_from(choices, random_bits_at(seed, index)));
  }
}

// A few likely tokens above noise; the noise may weigh a lot, or be all there is.
std::vector<float> random_row(std::mt19937_64& random) {
  const size_t size = 300 + random() % 6000;
  std::normal_distribution<float> noise(0.0f, static_cast<float>(random() % 4));
  std::vector<float> row(size);
  for (float& logit : row) logit = noise(random);
  const float lift = static_cast<float>(random() % 12);
  for (size_t i = 0; i < random() % 60; ++i) row[random() % size] += lift;
  if (random() % 3 == 0)
    for (float& logit : row) logit = std::floor(logit * 2);  // ties
  if (random() % 3 == 0)
    for (float& logit : row)
      if (random() % 2 == 0) logit = -std::numeric_limits<float>::infinity();
  row[random() % size] = 3.0f;
  return row;
}

}  // namespace

PAGODA_TEST(sampler_top_p_takes_the_token_of_its_definition) {
  std::mt19937_64 random(test::seed(33));
  for (int trial = 0; trial < 200; ++trial) {
    SamplingParams params;
    params.top_p = trial % 5 == 0 ? 0.999f : 0.3f + static_cast<float>(random() % 690) / 1000;
    params.temperature = trial % 2 == 0 ? 1.0f : 0.3f + static_cast<float>(random() % 20) / 10;
    check_draws(random_row(random), params, static_cast<uint64_t>(trial));
  }
}

// What is wanted is what the first tokens weigh, as exactly as top_p can say it: bounds of the others do not decide
// whether the last of them is kept.
PAGODA_TEST(sampler_top_p_is_exact_where_bounds_are_not) {
  std::mt19937_64 random(test::seed(34));
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<float> row(20000);
    for (float& logit : row) logit = -8.3f - static_cast<float>(random() % 1000) / 1000;  // together about 3
    row[7] = 0.0f;
    SamplingParams params;
    params.temperature = 1.0f;
    std::vector<Weighed> tokens = defined_choices(row, 1.0f - 1e-7f, 1.0f);
    std::ranges::sort(tokens, {}, [](const Weighed& token) { return -token.logit; });
    double total = 0, mass = 0;
    for (const Weighed& token : tokens) total += static_cast<double>(token.weight);
    for (int i = 0; i <= trial; ++i) mass += static_cast<double>(tokens[static_cast<size_t>(i)].weight);
    const auto part = static_cast<float>(mass / total);
    for (const float top_p : {part, std::nextafter(part, 0.0f), std::nextafter(part, 1.0f)}) {
      params.top_p = top_p;
      check_draws(row, params, static_cast<uint64_t>(trial));
    }
  }
}

}  // namespace pagoda::sampler
