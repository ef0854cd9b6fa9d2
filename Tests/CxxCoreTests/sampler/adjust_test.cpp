// Masks, biases, penalties and bans that change some blocks of a row: the same token as from a row that was changed
// beforehand by plain loops, whether the counted tokens are listed or searched.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sampler/sampler.h"
#include "support/test.h"

namespace pagoda {
namespace {

constexpr size_t kAdjustedVocab = 2000;  // seven blocks of 256 and a part of one

struct AdjustedCase {
  std::vector<float> logits;
  SamplingParams params;
  sampler::TokenCounts counts;
  std::vector<uint64_t> allowed;
  std::vector<int32_t> banned;
};

AdjustedCase any_adjusted_case(std::mt19937_64& random) {
  const auto one_in = [&](uint64_t n) { return random() % n == 0; };
  const auto any_id = [&] { return static_cast<int32_t>(random() % kAdjustedVocab); };
  AdjustedCase made;
  std::normal_distribution<float> noise(0.0f, 3.0f);
  for (size_t id = 0; id < kAdjustedVocab; ++id) made.logits.push_back(noise(random));
  if (one_in(4)) std::fill_n(made.logits.begin() + 256, 256, -std::numeric_limits<float>::infinity());
  SamplingParams& params = made.params;
  params.temperature = one_in(4) ? 0.0f : one_in(2) ? 1.0f : 0.7f;
  params.top_k = one_in(3) ? 20 : 0;
  params.top_p = one_in(2) ? 0.9f : 1.0f;
  params.min_p = one_in(3) ? 0.02f : 0.0f;
  if (one_in(2)) params.presence_penalty = 1.5f;
  if (one_in(4)) params.frequency_penalty = -0.5f;
  if (one_in(3)) params.repetition_penalty = 1.2f;
  const bool repetition = params.repetition_penalty != 1.0f;
  if (repetition || params.presence_penalty != 0 || params.frequency_penalty != 0) {
    made.counts.output.assign(kAdjustedVocab, 0);
    if (repetition) made.counts.in_prompt.assign(kAdjustedVocab, 0);
    made.counts.is_listed = true;
    for (uint64_t i = random() % 40; repetition && i > 0; --i) made.counts.note_prompt(any_id() % 600);
    for (uint64_t i = random() % 40; i > 0; --i) made.counts.note_output(any_id());
  }
  for (uint64_t i = one_in(2) ? random() % 10 : 0; i > 0; --i)
    params.logit_bias.push_back({any_id(), one_in(3) ? -100.0f : 4.0f});
  for (uint64_t i = one_in(2) ? random() % 5 : 0; i > 0; --i) made.banned.push_back(any_id());
  if (one_in(2)) {
    for (size_t word = 0; word < (kAdjustedVocab + 63) / 64; ++word)
      made.allowed.push_back(one_in(3) ? ~uint64_t{0} : one_in(3) ? 0 : random() & random() & random());
    made.allowed[9] |= 1;  // not every token is excluded
  }
  return made;
}

std::vector<float> changed_by_loops(const AdjustedCase& of) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  std::vector<float> logits = of.logits;
  for (size_t id = 0; id < logits.size(); ++id)
    if (!of.allowed.empty() && (of.allowed[id / 64] >> (id % 64) & 1) == 0) logits[id] = kImpossible;
  for (const LogitBias& entry : of.params.logit_bias)
    logits[static_cast<size_t>(entry.token_id)] =
        entry.bias <= -100 ? kImpossible : logits[static_cast<size_t>(entry.token_id)] + entry.bias;
  for (size_t id = 0; id < logits.size() && !of.counts.output.empty(); ++id) {
    const uint32_t count = of.counts.output[id];
    const bool is_known = count > 0 || (!of.counts.in_prompt.empty() && of.counts.in_prompt[id] != 0);
    const float repetition = of.params.repetition_penalty;
    if (is_known && repetition != 1) logits[id] = logits[id] > 0 ? logits[id] / repetition : logits[id] * repetition;
    if (count > 0) logits[id] -= of.params.frequency_penalty * static_cast<float>(count) + of.params.presence_penalty;
  }
  for (const int32_t id : of.banned) logits[static_cast<size_t>(id)] = kImpossible;
  return logits;
}

int32_t token_from(std::span<const float> logits, const SamplingParams& params, const AdjustedCase* changes) {
  sampler::SampleInput input;
  input.logits = logits;
  input.params = &params;
  if (changes) input.counts = &changes->counts, input.allowed = changes->allowed, input.banned = changes->banned;
  input.seed = 11;
  static sampler::Sampler sampler(static_cast<int32_t>(kAdjustedVocab));  // blocks of the last row must not remain
  sampler::SampleOutput output;
  return sampler.sample(input, output).is_ok() ? output.token_id : -1;
}

}  // namespace

PAGODA_TEST(sampler_changes_blocks_as_loops_over_the_row_do) {
  std::mt19937_64 random(test::seed(91));
  int num_sampled = 0;
  for (int i = 0; i < 400; ++i) {
    AdjustedCase one = any_adjusted_case(random);
    SamplingParams plain = one.params;
    plain.logit_bias.clear();
    plain.presence_penalty = plain.frequency_penalty = 0;
    plain.repetition_penalty = 1;
    const int32_t expected = token_from(changed_by_loops(one), plain, nullptr);
    CHECK_EQ(token_from(one.logits, one.params, &one), expected);
    one.counts.is_listed = false;
    CHECK_EQ(token_from(one.logits, one.params, &one), expected);
    num_sampled += expected >= 0;
  }
  CHECK(num_sampled > 250);
}

PAGODA_TEST(sampler_lists_counted_tokens_once) {
  sampler::TokenCounts counts;
  counts.output.assign(20, 0);
  counts.in_prompt.assign(20, 0);
  for (const int32_t id : {7, 3, 7}) counts.note_prompt(id);
  for (const int32_t id : {3, 9, 9}) counts.note_output(id);
  CHECK_EQ(counts.ids, (std::vector<int32_t>{7, 3, 9}));
  CHECK_EQ(counts.output[9], 2u);
  CHECK_EQ(int{counts.in_prompt[9]}, 0);
}

}  // namespace pagoda
