// sample on every device that has it: the token that the sampler draws, and -1 where it refuses the row.
#include "device/gpu/logits/sample_rows.h"

namespace pagoda::test {

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
      num_tokens +=
          compare(rig, rows, vocab, [](const Draw& draw) { return draw.has_nucleus() || draw.num_logprobs > 0; });
    }
  }
  CHECK(num_rows == 0 || num_tokens * 2 > num_rows);  // none where no tested device runs kernels
}

// The distribution of a language model: hundreds of tokens in the nucleus, most of them with low ids.
PAGODA_TEST(gpu_sample_leaves_no_likely_row_to_the_sampler) {
  Random random(seed(78));
  constexpr int64_t kVocab = 140000;
  Rig rig("software");
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 6, .vocab = kVocab}));
  Rows rows;
  sampler::DrawLists lists(kVocab, 6);
  lists.reserve(rows.edits, rows.masks);
  for (int i = 0; i < 6; ++i) {
    std::vector<float> row = random.normal(kVocab);
    for (int64_t likely = 0; likely < 200; ++likely)
      row[static_cast<size_t>(random.below(4000))] = 14.0f + static_cast<float>(random.below(100)) / 50;
    row[33 * 256] = 17.0f;  // the highest, in a part with no thread of the first simdgroup
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
  CHECK_OK(rig.device().reserve({.tokens = 4, .cols = 64, .logits_rows = 8, .vocab = 65}));
  Rows rows;
  sampler::DrawLists lists(65, 8);
  lists.reserve(rows.edits, rows.masks);
  for (int i = 0; i < 8; ++i) {
    std::vector<float> row(65, 0.0f);
    row[3] = 3e38f;
    row[7] = 2e38f;  // more than half of the largest number
    SamplingParams params;
    params.temperature = 1.0f;
    params.top_k = i % 2 == 0 ? 20 : 0;
    params.top_p = i % 4 == 3 || i == 5 ? 0.9f : 1.0f;
    Changes changes;
    changes.counts.output.assign(65, 0);
    changes.counts.in_prompt.assign(65, 0);
    changes.counts.note_output(3);
    if (i / 2 % 2 == 0) {
      params.logit_bias = {{3, 3e38f}};
      params.repetition_penalty = 2.0f;
    } else {
      params.presence_penalty = -3e38f;
    }
    rows.add_changed(row, params, changes, static_cast<uint64_t>(i), lists);
    CHECK_EQ(rows.wanted.back(), i / 2 % 2 == 0 ? 7 : 3);
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

}  // namespace pagoda::test
