// Log probabilities of prompts, and answers scored in one pass: the same bits as in generation, however the prompt is
// split, batched and preempted.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/fake_harness.h"
#include "engine/model_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;

std::vector<int32_t> random_ids(std::mt19937_64& rng, int32_t vocab_size, size_t count) {
  std::vector<int32_t> ids(count);
  for (int32_t& id : ids) id = static_cast<int32_t>(rng() % static_cast<uint64_t>(vocab_size));
  return ids;
}

Request request_of(std::vector<int32_t> prompt, int32_t max_tokens) {
  Request request;
  request.prompt_ids = std::move(prompt);
  request.sampling.max_tokens = max_tokens;
  request.sampling.ignore_eos = true;
  request.sampling.num_top_logprobs = 0;
  return request;
}

// Everything besides the logits that affects the choice of a token.
void sample_with_all(SamplingParams& sampling, uint64_t seed) {
  sampling.temperature = 1.3f;
  sampling.top_k = 30;
  sampling.top_p = 0.97f;
  sampling.repetition_penalty = 1.2f;
  sampling.presence_penalty = 0.3f;
  sampling.frequency_penalty = 0.2f;
  sampling.min_tokens = 3;
  sampling.has_seed = true;
  sampling.seed = seed;
}

template <class Harness>
void finish(Harness& harness) {
  for (int i = 0; harness.core->has_work() && i < 100000; ++i) harness.core->step();
  CHECK(!harness.core->has_work());
}

EngineOptions options_with(int32_t step_tokens) {
  EngineOptions options;
  options.device = "cpu";
  options.max_num_batched_tokens = step_tokens;
  options.max_num_seqs = std::min(4, step_tokens);
  options.speculation = "off";
  return options;
}

PAGODA_TEST(score_prompt_logprobs_are_those_of_the_generation_for_any_chunking) {
  std::mt19937_64 rng(test::seed(9001));
  for (const std::string name : {"qwen3_5", "qwen3"}) {
    const std::string folder = test::fixtures_dir() + "/model/" + name;
    auto whole = test::ModelHarness::open(folder, options_with(256));
    CHECK(whole != nullptr);
    if (!whole) return;
    const std::vector<int32_t> prompt = random_ids(rng, whole->loaded.core.vocab_size, 30);
    Recorder generated;
    CHECK(whole->add(request_of(prompt, 24), 1, generated));
    finish(*whole);
    std::vector<int32_t> all = prompt;
    all.insert(all.end(), generated.tokens.begin(), generated.tokens.end());
    Request scored = request_of(all, 1);
    scored.num_prompt_logprobs = 0;
    for (const int32_t step_tokens : {256, 1, 7, 16, 33}) {
      auto harness = test::ModelHarness::open(folder, options_with(step_tokens));
      Recorder recorder, neighbour;
      CHECK(harness->add(request_of(random_ids(rng, harness->loaded.core.vocab_size, 9), 5), 1, neighbour));
      CHECK(harness->add(scored, 2, recorder));
      finish(*harness);
      CHECK_EQ(recorder.prompt_tokens, std::vector<int32_t>(all.begin() + 1, all.end()));
      CHECK_EQ(std::vector<uint32_t>(recorder.prompt_bits.end() - 24, recorder.prompt_bits.end()),
               generated.logprob_bits);
      CHECK_EQ(std::vector<int32_t>(recorder.prompt_ranks.end() - 24, recorder.prompt_ranks.end()),
               std::vector<int32_t>(24, 1));  // greedy
      CHECK_EQ(recorder.tokens.size(), 1u);
      harness->check_all_free();
    }
  }
}

PAGODA_TEST(score_a_prompt_is_scored_whole_though_its_prefix_is_cached) {
  std::mt19937_64 rng(test::seed(9001));
  auto harness = test::ModelHarness::open(test::fixtures_dir() + "/model/qwen3_5", options_with(64));
  if (!harness) return;
  Request request = request_of(random_ids(rng, harness->loaded.core.vocab_size, 70), 2);
  request.num_prompt_logprobs = 3;
  Recorder first, plain, again;
  CHECK(harness->add(request, 1, first));
  finish(*harness);
  Request unscored = request;
  unscored.num_prompt_logprobs = -1;
  CHECK(harness->add(unscored, 2, plain));
  finish(*harness);
  CHECK(harness->add(request, 3, again));
  finish(*harness);
  CHECK_EQ(first.prompt_tokens.size(), 69u);
  CHECK_EQ(first.prompt_bits.size(), 69u * 4);
  CHECK_EQ(again.prompt_bits, first.prompt_bits);
  CHECK_EQ(again.tokens, first.tokens);
  CHECK_EQ(plain.tokens, first.tokens);
  CHECK_EQ(again.usage.cached_tokens, 0);
}

PAGODA_TEST(score_a_checked_answer_takes_one_pass_and_finds_the_changed_token) {
  std::mt19937_64 rng(test::seed(9001));
  for (const bool is_sampled : {false, true}) {
    auto harness = test::ModelHarness::open(test::fixtures_dir() + "/model/qwen3_5", options_with(256));
    if (!harness) return;
    Request request = request_of(random_ids(rng, harness->loaded.core.vocab_size, 20), 40);
    if (is_sampled) sample_with_all(request.sampling, rng());
    Recorder generated;
    CHECK(harness->add(request, 1, generated));
    finish(*harness);
    Request check = request;
    check.answer_ids = generated.tokens;
    const int64_t steps = harness->core->stats().num_steps;
    Recorder checked;
    CHECK(harness->add(check, 2, checked));
    finish(*harness);
    CHECK_EQ(harness->core->stats().num_steps, steps + 1);
    CHECK_EQ(checked.tokens, generated.tokens);
    CHECK_EQ(checked.logprob_bits, generated.logprob_bits);
    CHECK(checked.text.empty());
    for (const size_t offset : {size_t{0}, size_t{17}, size_t{39}}) {
      check.answer_ids = generated.tokens;
      check.answer_ids[offset] = (check.answer_ids[offset] + 1) % harness->loaded.core.vocab_size;
      Recorder changed;
      CHECK(harness->add(check, 3 + offset, changed));
      finish(*harness);
      CHECK_EQ(changed.tokens,
               std::vector<int32_t>(generated.tokens.begin(),
                                    generated.tokens.begin() + static_cast<std::ptrdiff_t>(offset) + 1));
    }
    harness->check_all_free();
  }
}

// Many requests in little memory: rows are split, batched with others, preempted and recomputed, and scored once.
PAGODA_TEST(score_random_schedules_say_the_same) {
  std::mt19937_64 rng(test::seed(9001));
  struct Case {
    Request request;
    Recorder generated, scored, checked;
  };
  for (int round = 0; round < 20; ++round) {
    test::Shape large;
    large.num_blocks = 64;
    std::vector<std::unique_ptr<Case>> cases;
    FakeHarness solo(large);
    for (uint64_t i = 0; i < 6; ++i) {
      auto one = std::make_unique<Case>();
      one->request =
          request_of(random_ids(rng, test::kFakeVocab, 1 + rng() % 60), 3 + static_cast<int32_t>(rng() % 40));
      if (rng() % 2) sample_with_all(one->request.sampling, rng());
      one->request.num_prompt_logprobs = static_cast<int32_t>(rng() % 3);
      CHECK_OK(solo.add(one->request, i + 1, one->generated));
      solo.run();
      CHECK_EQ(one->generated.prompt_tokens.size() + 1, one->request.prompt_ids.size());
      cases.push_back(std::move(one));
    }
    test::Shape tight;
    tight.num_blocks = 8 + static_cast<int64_t>(rng() % 8);
    tight.max_num_tokens = 4 + static_cast<int32_t>(rng() % 40);
    FakeHarness harness(tight);
    uint64_t id = 100;
    for (auto& one : cases) {
      CHECK_OK(harness.add(one->request, id++, one->scored));
      Request check = one->request;
      check.num_prompt_logprobs = -1;
      check.answer_ids = one->generated.tokens;
      CHECK_OK(harness.add(check, id++, one->checked));
      for (uint64_t n = rng() % 4; n > 0; --n) harness.core->step();
    }
    harness.run();
    for (auto& one : cases) {
      CHECK_EQ(one->scored.prompt_bits, one->generated.prompt_bits);
      CHECK_EQ(one->scored.prompt_ranks, one->generated.prompt_ranks);
      CHECK_EQ(one->scored.tokens, one->generated.tokens);
      CHECK_EQ(one->checked.tokens, one->generated.tokens);
      CHECK_EQ(one->checked.logprob_bits, one->generated.logprob_bits);
      CHECK(one->checked.prompt_tokens.empty());
    }
  }
}

PAGODA_TEST(score_refuses_ids_and_counts_out_of_range) {
  FakeHarness harness({});
  Recorder recorder;
  Request request = request_of({1, 2, 3}, 4);
  request.answer_ids = {5, test::kFakeVocab};
  CHECK_EQ(harness.add(request, 1, recorder).message, "answer token 1 is 97; ids of this model are 0 to 96");
  request.answer_ids.clear();
  request.num_prompt_logprobs = 21;
  CHECK_EQ(harness.add(request, 2, recorder).message, "num_prompt_logprobs must be 0 to 20, or -1, not 21");
}

}  // namespace
// A row of log probabilities takes about as long as a small step: a few of them fit beside an answer, also beside that
// of a prompt that was scored itself. The bits are those of whole steps.
PAGODA_TEST(engine_scores_a_prompt_in_small_parts_while_another_answers) {
  std::mt19937_64 rng(test::seed(5));
  Request requests[2];
  for (Request& request : requests) {
    request = request_of(random_ids(rng, test::kFakeVocab, 300), 4);
    request.num_prompt_logprobs = 2;
  }
  const test::Shape limits{.num_blocks = 256, .max_num_seqs = 4, .max_num_tokens = 128};
  Recorder alone[2];
  for (size_t i = 0; i < 2; ++i) {
    FakeHarness harness(limits);
    CHECK_OK(harness.add(requests[i], 1, alone[i]));
    harness.core->step();
    CHECK_EQ(alone[i].prompt_tokens.size(), size_t{128});  // whole steps
    harness.run();
  }
  for (const int32_t num_prompt_logprobs : {-1, 0}) {
    FakeHarness harness(limits);
    Recorder answer, beside[2];
    Request decoder = request_of(random_ids(rng, test::kFakeVocab, 8), 1000);
    decoder.num_prompt_logprobs = num_prompt_logprobs;
    CHECK_OK(harness.add(decoder, 1, answer));
    harness.core->step();
    for (size_t i = 0; i < 2; ++i) CHECK_OK(harness.add(requests[i], 2 + i, beside[i]));
    const auto num_scored = [&] { return beside[0].prompt_tokens.size() + beside[1].prompt_tokens.size(); };
    while (!(beside[0].finished && beside[1].finished) && !test::failed()) {
      const size_t num_tokens = answer.tokens.size(), before = num_scored();
      harness.core->step();
      CHECK_EQ(answer.tokens.size(), num_tokens + 1);
      CHECK(num_scored() - before <= static_cast<size_t>(scheduler::kScoredBeside));
    }
    harness.core->cancel(1);
    harness.run();
    for (size_t i = 0; i < 2; ++i) {
      CHECK(beside[i].prompt_bits == alone[i].prompt_bits && beside[i].prompt_ranks == alone[i].prompt_ranks);
      CHECK(beside[i].tokens == alone[i].tokens);
    }
  }
}

}  // namespace pagoda::engine
