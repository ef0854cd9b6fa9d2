// Embeddings: the same bits however the prompt is split, batched, cached and preempted; and banned sequences.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/fake_harness.h"
#include "engine/model_harness.h"
#include "engine/speculation/drafters.h"
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

Request embedding_of(std::vector<int32_t> prompt, Pooling pooling) {
  Request request;
  request.prompt_ids = std::move(prompt);
  request.pooling = pooling;
  return request;
}

EngineOptions options_with(int32_t step_tokens) {
  EngineOptions options;
  options.device = "cpu";
  options.max_num_batched_tokens = step_tokens;
  options.max_num_seqs = std::min(4, step_tokens);
  return options;
}

PAGODA_TEST(pool_embeddings_are_the_same_for_any_chunking) {
  std::mt19937_64 rng(test::seed(9101));
  for (const std::string name : {"qwen3_5", "qwen3"}) {
    const std::string folder = test::fixtures_dir() + "/model/" + name;
    std::vector<float> expected_last, expected_mean, unlike;
    std::vector<int32_t> prompt;
    for (const int32_t step_tokens : {256, 1, 7, 33}) {
      auto harness = test::ModelHarness::open(folder, options_with(step_tokens));
      REQUIRE(harness != nullptr);
      const int32_t vocab = harness->loaded.core.vocab_size;
      if (prompt.empty()) prompt = random_ids(rng, vocab, 45);
      Recorder last, mean, neighbour, again;
      Request other;
      other.prompt_ids = random_ids(rng, vocab, 9);
      other.sampling.max_tokens = 4;
      CHECK(harness->add(other, 1, neighbour));
      CHECK(harness->add(embedding_of(prompt, Pooling::last), 2, last));
      CHECK(harness->add(embedding_of(prompt, Pooling::mean), 3, mean));
      while (harness->core->has_work()) harness->core->step();
      CHECK(harness->add(embedding_of(prompt, Pooling::last), 4, again));  // most of it is cached
      while (harness->core->has_work()) harness->core->step();
      CHECK_EQ(last.embedding.size(), static_cast<size_t>(harness->loaded.core.hidden_size));
      if (expected_last.empty()) {
        expected_last = last.embedding;
        expected_mean = mean.embedding;
      }
      CHECK_EQ(last.embedding, expected_last);
      CHECK_EQ(mean.embedding, expected_mean);
      CHECK_EQ(again.embedding, expected_last);
      CHECK(last.embedding != mean.embedding);
      CHECK(again.usage.cached_tokens > 0 && mean.usage.cached_tokens == 0);
      for (const Recorder* recorder : {&last, &mean}) {
        CHECK(recorder->tokens.empty() && recorder->text.empty());
        CHECK(recorder->reason == FinishReason::stop);
        CHECK_EQ(recorder->usage.completion_tokens, 0);
      }
      CHECK_EQ(neighbour.tokens.size(), 4u);
      CHECK(neighbour.embedding.empty());
      harness->check_all_free();
    }
  }
}

// Even if preempted and recomputed, each row is added once.
PAGODA_TEST(pool_random_schedules_give_the_same_embeddings) {
  std::mt19937_64 rng(test::seed(9102));
  int64_t num_preemptions = 0;
  for (int round = 0; round < 30; ++round) {
    FakeHarness solo({});
    test::Shape tight;
    tight.num_blocks = 8;
    tight.max_num_tokens = 4 + static_cast<int32_t>(rng() % 40);
    FakeHarness harness(tight);
    std::vector<std::unique_ptr<Recorder>> expected, found, others;
    uint64_t id = 1;
    for (int i = 0; i < 5; ++i) {
      Request other;
      other.prompt_ids = random_ids(rng, test::kFakeVocab, 1 + rng() % 30);
      other.sampling.max_tokens = 40;
      other.sampling.ignore_eos = true;
      const Request request =
          embedding_of(random_ids(rng, test::kFakeVocab, 1 + rng() % 90), rng() % 2 ? Pooling::mean : Pooling::last);
      expected.push_back(std::make_unique<Recorder>());
      found.push_back(std::make_unique<Recorder>());
      others.push_back(std::make_unique<Recorder>());
      CHECK_OK(solo.add(request, id, *expected.back()));
      solo.run();
      CHECK_OK(harness.add(other, 100 + id, *others.back()));
      CHECK_OK(harness.add(request, id++, *found.back()));
      for (uint64_t n = rng() % 4; n > 0; --n) harness.core->step();
    }
    harness.run();
    num_preemptions += harness.core->stats().num_preemptions;
    for (size_t i = 0; i < found.size(); ++i) {
      CHECK_EQ(found[i]->embedding.size(), static_cast<size_t>(test::kFakeHidden));
      CHECK_EQ(found[i]->embedding, expected[i]->embedding);
    }
  }
  CHECK(num_preemptions > 0);
}

PAGODA_TEST(pool_refuses_what_embeddings_exclude) {
  FakeHarness harness({});
  Recorder recorder;
  Request request = embedding_of({1, 2, 3}, Pooling::mean);
  request.num_prompt_logprobs = 0;
  CHECK(harness.add(request, 1, recorder).code == StatusCode::invalid_argument);
  CHECK(!harness.core->has_work());
}

bool holds(const std::vector<int32_t>& tokens, const std::vector<int32_t>& sequence) {
  return std::ranges::search(tokens, sequence).begin() != tokens.end();
}

// Each answer is requested again with a part of itself banned: greedy decoding continues as before up to there.
PAGODA_TEST(banned_sequences_do_not_come_in_any_schedule) {
  std::mt19937_64 rng(test::seed(9103));
  for (const bool has_drafts : {false, true}) {
    for (int round = 0; round < 20; ++round) {
      test::Shape shape;
      shape.max_num_tokens = 4 + static_cast<int32_t>(rng() % 40);
      FakeHarness solo(shape);
      Request request;
      request.prompt_ids = random_ids(rng, test::kFakeVocab, 1 + rng() % 20);
      request.sampling.max_tokens = 30;
      request.sampling.ignore_eos = true;
      Recorder free;
      CHECK_OK(solo.add(request, 1, free));
      solo.run();
      const size_t length = 1 + rng() % 3, offset = rng() % (free.tokens.size() - length);
      const auto first = free.tokens.begin() + static_cast<std::ptrdiff_t>(offset);
      const std::vector<int32_t> sequence(first, first + static_cast<std::ptrdiff_t>(length));
      request.sampling.banned = {{sequence}, {{3, 4, 5}}};
      if (has_drafts) {
        auto drafter = std::make_shared<test::TestDrafter>(test::Habit::oracle, rng());
        drafter->expect(2, request.prompt_ids, free.tokens);
        shape.drafter = drafter;
      }
      FakeHarness harness(shape);
      Recorder banned, checked;
      CHECK_OK(harness.add(request, 2, banned));
      harness.run();
      CHECK(holds(free.tokens, sequence) && !holds(banned.tokens, sequence));
      const auto begin = std::ranges::search(free.tokens, sequence).begin() - free.tokens.begin();
      const auto same = begin + static_cast<std::ptrdiff_t>(length) - 1;
      CHECK(std::equal(free.tokens.begin(), free.tokens.begin() + same, banned.tokens.begin()));
      request.answer_ids = banned.tokens;  // scoring it applies the same ban
      CHECK_OK(solo.add(request, 3, checked));
      solo.run();
      CHECK_EQ(checked.tokens, banned.tokens);
    }
  }
}

}  // namespace
}  // namespace pagoda::engine
