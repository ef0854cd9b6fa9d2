// sample on every device that has it: the token that the sampler draws, and -1 where it refuses the row.
#include <algorithm>
#include <cstring>

#include "device/gpu/logits_rows.h"
#include "ops/sample.h"
#include "sampler/draw_lists.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

constexpr int64_t kPadding = 3;  // between rows

SamplingParams random_params(Random& random) {
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
  std::vector<float> logits;  // [R, vocab + kPadding]
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
    logits.insert(logits.end(), kPadding, std::numeric_limits<float>::infinity());
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

std::vector<int32_t> run(Rig& rig, Rows& rows, int64_t vocab) {
  const auto count = static_cast<int64_t>(rows.draws.size());
  std::vector<int64_t> words(rows.draws.size() * 7);
  std::memcpy(words.data(), rows.draws.data(), words.size() * sizeof(int64_t));
  device::Tensor draws = rig.longs(words);
  draws = device::dense(draws.buffer, DType::i64, {count, 7});
  const device::Tensor tokens = rig.ints(std::vector<int32_t>(rows.draws.size(), -7));
  const bool has_scores = std::ranges::any_of(rows.draws, [](const Draw& draw) { return draw.num_logprobs > 0; });
  const device::Tensor scores = has_scores ? rig.zeros(DType::i64, {count, 22}) : device::Tensor{};
  CHECK_OK(ops::sample(rig.encoder(),
                       {.logits = device::slice(rig.floats(rows.logits, {count, vocab + kPadding}), 1, 0, vocab),
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

void compare_scores(const Rows& rows, size_t r) {
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
size_t compare(Rig& rig, Rows& rows, int64_t vocab, bool (*may_refuse)(const Draw&) = nullptr) {
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

}  // namespace

PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws) {
  Random random(seed(72));
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    for (int64_t vocab : {1, 2, 63, 64, 65, 255, 700, 4095, 4096, 4097, 9999}) {
      Rig rig(name);
      Rows rows;
      for (int i = 0; i < 24; ++i) {
        std::vector<float> row = random_logits_row(random, vocab);
        const float steps = static_cast<float>(1 + random.below(50));  // fewer ties
        for (float& logit : row) logit += static_cast<float>(random.below(50)) / steps;
        rows.add(row, random_params(random), static_cast<uint64_t>(random.below(INT64_MAX)));
      }
      compare(rig, rows, vocab);
    }
  }
}

// Rows of all kinds beside each other: with and without penalties, biases, bans and masks.
PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws_from_changed_logits) {
  Random random(seed(75));
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    for (int64_t vocab : {1, 65, 700, 4096, 4097, 9999}) {
      Rig rig(name);
      Rows rows;
      sampler::DrawLists lists(static_cast<int32_t>(vocab), 24);
      lists.reserve(rows.edits, rows.masks);
      for (int i = 0; i < 24; ++i) {
        SamplingParams params = random_params(random);
        const Changes changes(random, vocab, params);
        std::vector<float> row = random_logits_row(random, vocab);
        const float steps = static_cast<float>(1 + random.below(50));
        for (float& logit : row) logit += static_cast<float>(random.below(50)) / steps;
        rows.add_changed(row, params, changes, static_cast<uint64_t>(random.below(INT64_MAX)), lists);
      }
      compare(rig, rows, vocab);
    }
  }
}

// Without top-k: top-p, min-p, both or neither, and log probabilities, mixed with all other kinds.
PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws_from_all_tokens) {
  Random random(seed(77));
  const auto one_in = [&](int64_t n) { return random.below(n) == 0; };
  size_t num_rows = 0, num_tokens = 0;
  for (const std::string& name : tested_devices()) {
    if (!runs_kernels(name)) continue;
    for (int64_t vocab : {1, 65, 700, 4097, 9999, 20000}) {
      Rig rig(name);
      CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 24, .vocab = vocab}));
      Rows rows;
      sampler::DrawLists lists(static_cast<int32_t>(vocab), 24);
      lists.reserve(rows.edits, rows.masks);
      for (int i = 0; i < 24; ++i) {
        SamplingParams params = random_params(random);
        params.top_k = one_in(4) ? params.top_k : 0;
        params.num_top_logprobs = one_in(3) ? -1 : static_cast<int32_t>(random.below(21));
        const Changes changes = one_in(2) ? Changes(random, vocab, params) : Changes();
        std::vector<float> row = random_logits_row(random, vocab);
        const float steps = static_cast<float>(1 + random.below(50));
        for (float& logit : row) logit += static_cast<float>(random.below(50)) / steps;
        rows.add_changed(row, params, changes, static_cast<uint64_t>(random.below(INT64_MAX)), lists);
        num_rows += rows.wanted.back() >= 0 ? 1 : 0;
      }
      num_tokens += compare(rig, rows, vocab, [](const Draw& draw) {
        const bool takes_any = draw.min_weight == 0 && draw.top_p == ~uint64_t{0};
        return (draw.is_whole > 0 && !takes_any) || draw.num_logprobs > 0;
      });
    }
  }
  CHECK(num_rows == 0 || num_tokens * 2 > num_rows);  // none where no tested device runs kernels
}

// The distribution of a language model: hundreds of tokens in the nucleus, most of them with low ids.
PAGODA_TEST(gpu_sample_leaves_no_likely_row_to_the_sampler) {
  Random random(seed(78));
  constexpr int64_t kVocab = 100000;
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 6, .vocab = kVocab}));
  Rows rows;
  sampler::DrawLists lists(kVocab, 6);
  lists.reserve(rows.edits, rows.masks);
  for (int i = 0; i < 6; ++i) {
    std::vector<float> row = random.normal(kVocab);
    for (int64_t likely = 0; likely < 200; ++likely)
      row[static_cast<size_t>(random.below(4000))] = 14.0f + static_cast<float>(random.below(100)) / 50;
    SamplingParams params;
    params.temperature = 1.0f;
    params.top_p = i % 3 == 0 ? 1.0f : 0.95f;
    params.min_p = i % 3 == 1 ? 0.05f : 0.0f;
    params.num_top_logprobs = 20;
    rows.add_changed(row, params, Changes(), static_cast<uint64_t>(i), lists);
  }
  compare(rig, rows, kVocab);
}

// Peaked rows of which the likely tokens change: no row may be left to the sampler.
PAGODA_TEST(gpu_sample_sums_changed_weights) {
  Random random(seed(79));
  constexpr int64_t kVocab = 9999;
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 24, .vocab = kVocab}));
  Rows rows;
  sampler::DrawLists lists(kVocab, 24);
  lists.reserve(rows.edits, rows.masks);
  for (int i = 0; i < 24; ++i) {
    std::vector<float> row = random.normal(kVocab);
    SamplingParams params;
    params.temperature = 1.0f;
    params.top_p = i % 3 == 0 ? 1.0f : 0.3f;
    params.min_p = i % 3 == 1 ? 0.5f : 0.0f;
    params.num_top_logprobs = i % 2 - 1;
    for (int likely = 0; likely < 60; ++likely) {
      const auto id = static_cast<int32_t>(likely * 160 + random.below(160));
      row[static_cast<size_t>(id)] = 10.0f + static_cast<float>(random.below(100)) / 100;
      if (likely % 2 == 0) params.logit_bias.push_back({id, likely % 4 == 0 ? -100.0f : 1.0f});
    }
    rows.add_changed(row, params, Changes(), static_cast<uint64_t>(random.below(INT64_MAX)), lists);
  }
  compare(rig, rows, kVocab);
}

// Sums beyond the largest number: a bias and then a negative penalty take a logit there.
PAGODA_TEST(gpu_sample_keeps_changed_logits_finite) {
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 4, .vocab = 65}));
  Rows rows;
  sampler::DrawLists lists(65, 4);
  lists.reserve(rows.edits, rows.masks);
  for (int i = 0; i < 4; ++i) {
    std::vector<float> row(65, 0.0f);
    row[3] = 3e38f;
    row[7] = 2e38f;  // more than half of the largest number
    SamplingParams params;
    params.temperature = 1.0f;
    params.top_k = i % 2 == 0 ? 20 : 0;
    Changes changes;
    changes.counts.output.assign(65, 0);
    changes.counts.in_prompt.assign(65, 0);
    changes.counts.note_output(3);
    if (i < 2) {
      params.logit_bias = {{3, 3e38f}};
      params.repetition_penalty = 2.0f;
    } else {
      params.presence_penalty = -3e38f;
    }
    rows.add_changed(row, params, changes, static_cast<uint64_t>(i), lists);
    CHECK_EQ(rows.wanted.back(), i < 2 ? 7 : 3);
  }
  compare(rig, rows, 65);
}

// A head that drafts only part of the vocabulary: changes of other tokens have no effect.
PAGODA_TEST(gpu_sample_ignores_changes_of_tokens_that_the_row_lacks) {
  Random random(seed(76));
  Rig rig("software");
  SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 20;
  Rows rows;
  rows.edits = {{.id = 4095, .bias = 50.0f}, {.id = 4000, .bias = 50.0f}, {.id = 70000, .bias = 50.0f}};
  for (int i = 0; i < 8; ++i) {
    rows.add(random.normal(4000), params, static_cast<uint64_t>(i));
    rows.draws.back().num_edits = 3;
  }
  compare(rig, rows, 4000);
}

PAGODA_TEST(gpu_sample_refuses_changes_that_do_not_exist) {
  Rig rig("software");
  const device::Tensor logits = rig.zeros(DType::f32, {1, 8}), tokens = rig.zeros(DType::i32, {1});
  for (const Draw& draw : {Draw{.top_k = 1, .first_edit = 1, .num_edits = 2}, Draw{.top_k = 1, .mask = 2}}) {
    std::vector<int64_t> words(sizeof(Draw) / sizeof(int64_t));
    std::memcpy(words.data(), &draw, sizeof draw);
    const device::Tensor draws = device::dense(rig.longs(words).buffer, DType::i64, {1, 7});
    CHECK_OK(ops::sample(rig.encoder(),
                         {logits, draws, rig.zeros(DType::i32, {2, 4}), rig.zeros(DType::i32, {1, 2}), tokens, {}}));
    CHECK(rig.finish().code == StatusCode::device_error);
  }
  CHECK(
      ops::sample(rig.encoder(), {logits, rig.zeros(DType::i64, {1, 7}), {}, rig.zeros(DType::i32, {1, 0}), tokens, {}})
          .code == StatusCode::internal);
}

// Each boundary between two tokens, from both sides: a draw may depend only on the random bits.
PAGODA_TEST(gpu_sample_draws_what_the_sampler_draws_at_every_edge) {
  Random random(seed(73));
  Rig rig("software");
  const std::vector<float> row = random.normal(12);
  SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 64;
  uint64_t total = 0;
  const float highest = *std::ranges::max_element(row);
  const auto weight = [&](float logit) { return sampler::whole_weight(sampler::weight_of(logit - highest)); };
  for (const float logit : row) total += weight(logit);
  Rows rows;
  uint64_t before = 0;
  for (size_t id = 0; id < row.size(); ++id) {
    before += weight(row[id]);
    // The smallest bits whose share of the total is `before`, and the bits just below.
    const auto bits = static_cast<uint64_t>((static_cast<unsigned __int128>(before) << 64) / total) + 1;
    for (const auto& [random_bits, token] : {std::pair(bits - 2, id), std::pair(bits, id + 1)}) {
      if (token == row.size()) continue;
      rows.add(row, params, 0);
      rows.draws.back().random = random_bits;
      rows.wanted.back() = static_cast<int32_t>(token);
    }
  }
  compare(rig, rows, 12);
}

// A row without a request, and one that requests more than fits.
PAGODA_TEST(gpu_sample_stays_in_its_bounds) {
  Random random(seed(74));
  Rig rig("software");
  SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 64;
  Rows rows;
  for (int i = 0; i < 3; ++i) rows.add(random.normal(5000), params, 9);
  rows.draws[0].top_k = 0;
  rows.wanted[0] = -1;
  rows.draws[1].top_k = 1000;
  compare(rig, rows, 5000);
}

PAGODA_TEST(gpu_sample_refuses_what_does_not_fit) {
  Rig rig("software"), cpu("cpu");
  const device::Tensor logits = rig.zeros(DType::f32, {2, 8}), tokens = rig.zeros(DType::i32, {2});
  const device::Tensor draws = rig.zeros(DType::i64, {2, 7});
  CHECK(ops::sample(rig.encoder(), {logits, draws, {}, {}, rig.zeros(DType::i32, {3}), {}}).code ==
        StatusCode::internal);
  CHECK(ops::sample(rig.encoder(), {logits, rig.zeros(DType::i64, {1, 7}), {}, {}, tokens, {}}).code ==
        StatusCode::internal);
  CHECK(ops::sample(
            cpu.encoder(),
            {cpu.zeros(DType::f32, {2, 8}), cpu.zeros(DType::i64, {2, 7}), {}, {}, cpu.zeros(DType::i32, {2}), {}})
            .code == StatusCode::unsupported);
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 1, .vocab = 4096}));
  CHECK_OK(ops::sample(rig.encoder(), {logits, draws, {}, {}, tokens, {}}));
  CHECK(rig.finish().message.find("more than was reserved") != std::string::npos);
}

}  // namespace pagoda::test
