// Rows for tests of sample: random requests and changes of logits, and a comparison with what the sampler draws.
#pragma once

#include <algorithm>
#include <cstring>

#include "device/gpu/logits/logits_rows.h"
#include "ops/ops.h"
#include "sampler/draw_lists.h"
#include "support/test.h"

namespace pagoda::test {

inline constexpr int64_t kRowPadding = 3;  // between rows

inline SamplingParams random_params(Random& random) {
  const auto one_in = [&](int64_t n) { return random.below(n) == 0; };
  SamplingParams params;
  params.temperature = one_in(8) ? 0.0f : one_in(4) ? 20.0f : 0.3f + static_cast<float>(random.below(100)) / 60;
  params.top_k = static_cast<int32_t>(one_in(4) ? 64 : 1 + random.below(64));
  params.top_p = one_in(3) ? 1.0f : static_cast<float>(1 + random.below(999)) / 1000;
  params.min_p = one_in(2) ? 0.0f : static_cast<float>(random.below(100)) / 400;
  return params;
}

// Penalties, biases, bans and a mask, each in some rows.
struct Changes {
  sampler::TokenCounts counts;
  std::vector<uint64_t> allowed;
  std::vector<int32_t> banned;

  Changes() = default;
  Changes(Random& random, int64_t vocab, SamplingParams& params) {
    const auto one_in = [&](int64_t n) { return random.below(n) == 0; };
    const auto any_id = [&] { return static_cast<int32_t>(random.below(vocab)); };
    const auto some = static_cast<int>(one_in(3) ? 600 : 1 + random.below(9));
    if (one_in(2)) {
      params.presence_penalty = one_in(3) ? 0.0f : static_cast<float>(random.below(400)) / 100 - 2;
      params.frequency_penalty = one_in(3) ? 0.0f : static_cast<float>(random.below(400)) / 100 - 2;
      counts.output.assign(static_cast<size_t>(vocab), 0);
      if (one_in(2)) {
        params.repetition_penalty = 0.5f + static_cast<float>(random.below(100)) / 70;
        counts.in_prompt.assign(static_cast<size_t>(vocab), 0);
        for (int i = 0; i < some; ++i) counts.note_prompt(any_id());
      }
      for (int i = 0; i < some; ++i) counts.note_output(any_id());
    }
    for (int i = 0; one_in(2) && i < 20; ++i) {
      const int32_t id = any_id();
      const float bias = one_in(4) ? -100.0f : one_in(9) ? 3e38f : static_cast<float>(random.below(20)) - 10;
      if (std::ranges::find(params.logit_bias, id, &LogitBias::token_id) == params.logit_bias.end())
        params.logit_bias.push_back({id, bias});
    }
    for (int i = 0; one_in(3) && i < 3; ++i) banned.push_back(any_id());
    if (!one_in(2)) return;
    allowed.assign(static_cast<size_t>(mask_words(vocab)), 0);
    const int64_t share = one_in(2) ? 95 : 2;  // per cent
    for (int64_t id = 0; id < vocab; ++id)
      if (random.below(100) < share) allowed[static_cast<size_t>(id / 64)] |= uint64_t{1} << (id % 64);
  }
};

struct Rows {
  std::vector<float> logits;  // [R, vocab + kRowPadding]
  std::vector<Draw> draws;
  std::vector<LogitEdit> edits;
  std::vector<uint64_t> masks;
  std::vector<int32_t> wanted;
  std::vector<sampler::SampleOutput> outputs;  // of rows from add_changed()
  std::vector<RowScore> scores;                // from the device, if a draw asks for any

  void add_changed(std::span<const float> row, const SamplingParams& params, const Changes& changes, uint64_t seed,
                   sampler::DrawLists& lists) {
    sampler::SampleInput input = sample_input(row, params, seed);
    input.counts = &changes.counts;
    input.allowed = changes.allowed;
    input.banned = changes.banned;
    Draw draw = sampler::draw_of(input, 64);
    CHECK(lists.add(input, {}, draw, edits, masks));
    draws.push_back(draw);
    sampler::Sampler sampler(static_cast<int32_t>(row.size()));
    sampler::SampleOutput& output = outputs.emplace_back();
    wanted.push_back(sampler.sample(input, output).is_ok() ? output.token_id : -1);
    add_logits(row);
  }

  void add(std::span<const float> row, const SamplingParams& params, uint64_t seed) {
    draws.push_back(sampler::draw_of(sample_input(row, params, seed), 64));
    wanted.push_back(sampled(row, params, seed));
    add_logits(row);
  }

  void add_logits(std::span<const float> row) {
    logits.insert(logits.end(), row.begin(), row.end());
    logits.insert(logits.end(), kRowPadding, std::numeric_limits<float>::infinity());
  }
};

// As i32 [n, width]; absent if there are none.
template <class T>
device::Tensor words_of(Rig& rig, const std::vector<T>& values, int64_t width) {
  if (values.empty()) return {};
  std::vector<int32_t> words(values.size() * sizeof(T) / sizeof(int32_t));
  std::memcpy(words.data(), values.data(), words.size() * sizeof(int32_t));
  return device::dense(rig.ints(words).buffer, DType::i32, {static_cast<int64_t>(words.size()) / width, width});
}

inline std::vector<int32_t> run(Rig& rig, Rows& rows, int64_t vocab) {
  const auto count = static_cast<int64_t>(rows.draws.size());
  std::vector<int64_t> words(rows.draws.size() * 7);
  std::memcpy(words.data(), rows.draws.data(), words.size() * sizeof(int64_t));
  device::Tensor draws = rig.longs(words);
  draws = device::dense(draws.buffer, DType::i64, {count, 7});
  const device::Tensor tokens = rig.ints(std::vector<int32_t>(rows.draws.size(), -7));
  const bool has_scores = std::ranges::any_of(rows.draws, [](const Draw& draw) { return draw.num_logprobs > 0; });
  const device::Tensor scores = has_scores ? rig.zeros(DType::i64, {count, 22}) : device::Tensor{};
  CHECK_OK(ops::sample(rig.encoder(),
                       {.logits = device::slice(rig.floats(rows.logits, {count, vocab + kRowPadding}), 1, 0, vocab),
                        .draws = draws,
                        .edits = words_of(rig, rows.edits, 4),
                        .masks = words_of(rig, rows.masks, 2 * mask_words(vocab)),
                        .tokens = tokens,
                        .scores = scores}));
  CHECK_OK(rig.finish());
  rows.scores.resize(scores.is_present() ? rows.draws.size() : 0);
  if (scores.is_present())
    std::memcpy(rows.scores.data(), rig.bytes(scores).data(), rows.scores.size() * sizeof(RowScore));
  std::vector<int32_t> got(rows.draws.size());
  std::memcpy(got.data(), rig.bytes(tokens).data(), got.size() * sizeof(int32_t));
  return got;
}

inline void compare_scores(const Rows& rows, size_t r) {
  sampler::SampleOutput output;
  sampler::fill_logprobs(rows.scores[r], static_cast<int32_t>(rows.outputs[r].top_logprobs.size()), output);
  CHECK_EQ(output.logprob, rows.outputs[r].logprob);
  REQUIRE(output.top_logprobs.size() == rows.outputs[r].top_logprobs.size());
  for (size_t i = 0; i < output.top_logprobs.size(); ++i) {
    CHECK_EQ(output.top_logprobs[i].token_id, rows.outputs[r].top_logprobs[i].token_id);
    CHECK_EQ(output.top_logprobs[i].logprob, rows.outputs[r].top_logprobs[i].logprob);
  }
}

// Rows that `may_refuse` accepts may also give -1: the sampler draws them. Returns the number of tokens.
inline size_t compare(Rig& rig, Rows& rows, int64_t vocab, bool (*may_refuse)(const Draw&) = nullptr) {
  const std::vector<int32_t> got = run(rig, rows, vocab);
  size_t num_tokens = 0;
  for (size_t r = 0; r < got.size(); ++r) {
    if (got[r] >= 0) ++num_tokens;
    if (got[r] == -1 && may_refuse && may_refuse(rows.draws[r])) continue;
    CHECK_EQ(got[r], rows.wanted[r]);
    if (got[r] >= 0 && rows.draws[r].num_logprobs > 0) compare_scores(rows, r);
    if (failed()) return note("vocabulary of " + std::to_string(vocab) + ", row " + std::to_string(r)), num_tokens;
  }
  return num_tokens;
}

}  // namespace pagoda::test
