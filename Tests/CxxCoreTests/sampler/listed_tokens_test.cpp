// Top-p of all tokens: the same tokens as by its definition, for listed tokens and for whole rows.
#include "sampler/listed_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sampler/philox.h"
#include "sampler/sampler.h"
#include "support/test.h"

namespace pagoda::sampler {
namespace {

struct Token {
  float logit;
  int32_t id;
  uint64_t weight;
};

std::vector<Token> weighed(const std::vector<float>& logits, float temperature) {
  const float highest = *std::ranges::max_element(logits);
  std::vector<Token> tokens;
  for (size_t i = 0; i < logits.size(); ++i)
    tokens.push_back(
        {logits[i], static_cast<int32_t>(i), whole_weight(weight_of((logits[i] - highest) / temperature))});
  return tokens;
}

uint64_t total_of(const std::vector<Token>& tokens) {
  uint64_t total = 0;
  for (const Token& token : tokens) total += token.weight;
  return total;
}

// The definition: sorted, a token stays if those before it weigh less than `wanted`; then in the order of ids.
std::vector<Token> kept_of(std::vector<Token> tokens, uint64_t wanted) {
  std::ranges::sort(
      tokens, [](const Token& a, const Token& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; });
  std::vector<Token> kept;
  uint64_t before = 0;
  for (const Token& token : tokens) {
    if (before >= wanted) break;
    kept.push_back(token);
    before += token.weight;
  }
  std::ranges::sort(kept, {}, &Token::id);
  return kept;
}

uint64_t part_of(uint64_t number, uint64_t fraction) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(number) * fraction) >> 64);
}

// Few different values, so that many tie; sometimes both zeros, tokens without weight, and excluded ones.
std::vector<float> make_logits(std::mt19937_64& random, size_t count) {
  const auto kinds = static_cast<int>(1 + random() % 40);
  const float spread = random() % 3 == 0 ? 40.0f : 4.0f;
  std::vector<float> logits(count);
  for (float& logit : logits) {
    logit = spread * static_cast<float>(random() % static_cast<uint64_t>(kinds)) / static_cast<float>(kinds) - 2.0f;
    if (random() % 50 == 0) logit = random() % 2 == 0 ? -0.0f : 0.0f;
    if (random() % 50 == 0) logit = -std::numeric_limits<float>::infinity();
  }
  logits[random() % count] = 3.0f;
  return logits;
}

}  // namespace

PAGODA_TEST(sampler_listed_tokens_are_kept_until_they_reach_the_mass) {
  std::mt19937_64 random(test::seed(11));
  for (int round = 0; round < 300; ++round) {
    const std::vector<float> logits = make_logits(random, 1 + random() % 700);
    const float temperature = random() % 2 == 0 ? 1.0f : 0.3f;
    LogitBlocks blocks(static_cast<int32_t>(logits.size()));
    CHECK(blocks.survey(logits));
    ListedTokens listed(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) listed.add(static_cast<int32_t>(i), logits[i]);
    const std::vector<Token> tokens = weighed(logits, temperature);
    const uint64_t total = total_of(tokens);
    CHECK_EQ(listed.weigh(blocks, temperature), total);
    for (const uint64_t wanted : {uint64_t{1}, total / 2 + 1, total - total / 7, total}) {
      const std::vector<Token> expected = kept_of(tokens, wanted);
      size_t count = 0;
      listed.keep(wanted, [&](float logit, int32_t id, uint64_t weight) {
        CHECK(count < expected.size());
        CHECK_EQ(id, expected[count].id);
        CHECK_EQ(weight, expected[count].weight);
        CHECK_EQ(logit, expected[count].logit);
        ++count;
      });
      CHECK_EQ(count, expected.size());
    }
  }
}

// Rows whose mass lies in a few tokens, in a few hundred, and in nearly all: the first bound is enough, or not.
PAGODA_TEST(sampler_top_p_of_a_whole_row_draws_as_by_its_definition) {
  constexpr size_t kTokens = 6000;
  std::mt19937_64 random(test::seed(11));
  Sampler sampler(kTokens);
  for (int round = 0; round < 60; ++round) {
    std::normal_distribution<float> noise(0.0f, round % 3 == 0 ? 0.01f : round % 3 == 1 ? 2.0f : 6.0f);
    std::vector<float> logits(kTokens);
    for (float& logit : logits) logit = noise(random);
    for (int i = 0; i < round; ++i) logits[random() % kTokens] += 8.0f;
    SamplingParams params;
    params.temperature = round % 2 == 0 ? 1.0f : 1.7f;
    params.top_p = 0.01f + 0.98f * static_cast<float>(round) / 60.0f;
    const std::vector<Token> tokens = weighed(logits, params.temperature);
    const auto fraction = static_cast<uint64_t>(static_cast<double>(params.top_p) * 0x1p64);
    const std::vector<Token> kept = kept_of(tokens, part_of(total_of(tokens), fraction) + 1);
    for (uint64_t index = 0; index < 5; ++index) {
      SampleOutput output;
      const SampleInput input{.logits = logits,
                              .params = &params,
                              .history = {},
                              .allowed = {},
                              .banned = {},
                              .seed = 5,
                              .token_index = index};
      CHECK_OK(sampler.sample(input, output));
      uint64_t target = part_of(total_of(kept), random_bits_at(5, index));
      const auto drawn = std::ranges::find_if(kept, [&](const Token& token) {
        const bool is_here = target < token.weight;
        target -= is_here ? 0 : token.weight;
        return is_here;
      });
      CHECK(drawn != kept.end());
      CHECK_EQ(output.token_id, drawn->id);
    }
  }
}

}  // namespace pagoda::sampler
