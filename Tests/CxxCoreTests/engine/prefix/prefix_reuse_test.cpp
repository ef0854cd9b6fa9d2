// How much of a prompt is reused in typical situations; and that no data of one request reaches another. A fake
// model that hashes the contents of blocks and slots.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/fake_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::kFakeVocab;
using test::Recorder;
using test::Shape;
using Tokens = std::vector<int32_t>;

constexpr int32_t kTurnEnd = 5;

Tokens random_tokens(uint64_t seed, int count) {
  std::mt19937_64 rng(seed);
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(10 + rng() % 80));
  return tokens;
}

Tokens joined(std::initializer_list<Tokens> parts) {
  Tokens all;
  for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Request make_request(const Tokens& prompt, int max_tokens) {
  Request request;
  request.prompt_ids = prompt;
  request.sampling.max_tokens = max_tokens;
  request.sampling.num_top_logprobs = 0;
  request.sampling.ignore_eos = true;
  return request;
}

Shape large(bool has_state = true) {
  return {.num_blocks = 400, .max_num_tokens = 256, .has_state = has_state, .max_checkpoints = 32};
}

// Asks with the cache, and compares with an answer without it.
class Asker {
 public:
  explicit Asker(const Shape& shape) : harness_(shape, {kTurnEnd}), off_(shape, {kTurnEnd}) {}

  Usage ask(Request request, Tokens* answer = nullptr) {
    Recorder seen, expected;
    CHECK_OK(harness_.add(request, ++last_id_, seen));
    harness_.run();
    request.use_cache = false;
    CHECK_OK(off_.add(request, last_id_, expected));
    off_.run();
    CHECK(seen.tokens == expected.tokens && seen.logprob_bits == expected.logprob_bits);
    if (answer) *answer = seen.tokens;
    return seen.usage;
  }
  int cached(const Tokens& prompt) { return ask(make_request(prompt, 2)).cached_tokens; }
  FakeHarness& harness() { return harness_; }

 private:
  FakeHarness harness_, off_;
  uint64_t last_id_ = 0;
};

Tokens diverged_at(const Tokens& prompt, int offset) {
  Tokens other = prompt;
  for (size_t i = static_cast<size_t>(offset); i < other.size(); ++i) other[i] = 100 - other[i];
  return other;
}

}  // namespace

PAGODA_TEST(prefix_reuse_after_a_prompt_of_1000_tokens) {
  struct Row {
    const char* what;
    int offset;         // where the second prompt diverges from the first
    int with_turn_end;  // reused, when a turn of the first prompt ends at token 600
    int without;        // reused, when it has no turns
  };
  const Row rows[] = {{"the same again", 1000, 999, 999}, {"diverges at 999", 999, 999, 999},
                      {"diverges at 800", 800, 768, 768}, {"diverges at 600", 600, 600, 512},
                      {"diverges at 599", 599, 512, 512}, {"diverges at 300", 300, 256, 256},
                      {"diverges at 255", 255, 0, 0},     {"diverges at 1", 1, 0, 0}};
  for (const Row& row : rows)
    for (bool has_turn : {true, false}) {
      Tokens prompt = random_tokens(1, 1000);
      if (has_turn) prompt[599] = kTurnEnd;
      Asker asker(large());
      CHECK_EQ(asker.cached(prompt), 0);
      const Usage usage = asker.ask(make_request(diverged_at(prompt, row.offset), 2));
      test::note(std::string(row.what) + ": " + std::to_string(usage.cached_tokens));
      CHECK_EQ(usage.cached_tokens, has_turn ? row.with_turn_end : row.without);
      CHECK_EQ(usage.matched_tokens, row.offset);
      const bool is_near_miss = usage.cached_tokens < row.offset && row.offset < 1000;
      CHECK_EQ(asker.harness().core->stats().cache.last_near_miss, is_near_miss ? row.offset : -1);
      Asker attention(large(/*has_state=*/false));
      attention.cached(prompt);
      CHECK_EQ(attention.cached(diverged_at(prompt, row.offset)), std::min(row.offset, 999));
    }
}

// The first prompt that diverges where there is no state saves one there, within the memory limit; a state that is used
// repeatedly outlives a stream of prompts that are not.
PAGODA_TEST(prefix_reuse_learns_where_prompts_part) {
  Asker asker(large());
  const Tokens prompt = random_tokens(1, 1000);
  asker.cached(prompt);
  const auto sibling = [&](uint64_t seed) {
    Tokens other = random_tokens(seed, 1000);
    std::copy_n(prompt.begin(), 600, other.begin());
    other[600] = static_cast<int32_t>(seed);  // in no random prompt, so that they diverge here
    return other;
  };
  CHECK_EQ(asker.cached(sibling(1)), 512);
  for (const uint64_t next : {2, 3, 4, 6, 7, 8, 9, 90, 91, 92}) {
    CHECK_EQ(asker.cached(sibling(next)), 600);
    for (uint64_t i = 0; i < 6; ++i) asker.cached(random_tokens(1000 * next + i, 40));
  }
  const CacheStats stats = asker.harness().core->stats().cache;
  CHECK(stats.num_checkpoint_evictions > 0 && stats.num_checkpoint_hits >= 10);
  CHECK(stats.num_checkpoints <= stats.max_checkpoints);
}

// Eight concurrent sequences in a pool for five: preempted ones are partly recomputed, but little in total.
PAGODA_TEST(prefix_reuse_preemption_costs_less_than_a_tenth) {
  std::mt19937_64 rng(test::seed(11));
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  for (const int32_t max_checkpoints : {0, 32}) {
    FakeHarness harness(
        {.num_blocks = 300, .max_num_seqs = 8, .max_num_tokens = 256, .max_checkpoints = max_checkpoints});
    std::vector<std::unique_ptr<Recorder>> recorders;
    int64_t ideal = 0;
    for (uint64_t i = 0; i < 40; ++i) {
      const int prompt = pick(200, 1200), output = pick(100, 600);
      ideal += prompt + output - 1;
      CHECK_OK(harness.add(make_request(random_tokens(1000 + i, prompt), output), i + 1,
                           *recorders.emplace_back(std::make_unique<Recorder>())));
    }
    harness.run();
    const EngineStats stats = harness.core->stats();
    const double ratio = static_cast<double>(stats.num_computed_tokens) / static_cast<double>(ideal);
    test::note(std::to_string(max_checkpoints) + " checkpoints: computed " + std::to_string(ratio) + " of ideal, " +
               std::to_string(stats.num_preemptions) + " preemptions");
    CHECK(ratio <= (max_checkpoints > 0 ? 1.1 : 1.2));  // without states, all of a sequence is computed again
  }
}

// Thinking is dropped from the history, and the next turn continues from the end of the last message.
PAGODA_TEST(prefix_reuse_survives_templates_that_drop_reasoning) {
  Asker asker(large());
  const Tokens turn_end{kTurnEnd}, opening{1, 2, 3, 4};
  const Tokens system = joined({random_tokens(1, 60), turn_end}), question = joined({random_tokens(2, 50), turn_end});
  Tokens thought;
  asker.ask(make_request(joined({system, question, opening}), 40), &thought);
  const Tokens answer = joined({{1, 2}, random_tokens(3, 30), turn_end}),
               next = joined({random_tokens(4, 20), turn_end});
  const Usage usage = asker.ask(make_request(joined({system, question, answer, next, opening}), 4));
  CHECK_EQ(usage.cached_tokens, 112);   // both messages
  CHECK_EQ(usage.matched_tokens, 114);  // and the two tokens that open every answer
  // Another conversation under the same instructions.
  CHECK_EQ(asker.cached(joined({system, random_tokens(5, 30), turn_end, opening})), 61);
}

PAGODA_TEST(prefix_reuse_of_prompts_shorter_than_any_grid) {
  Asker asker(large());
  CHECK_EQ(asker.cached(random_tokens(6, 5)), 0);
  CHECK_EQ(asker.cached(random_tokens(6, 5)), 4);
  CHECK_EQ(asker.cached(random_tokens(6, 9)), 4);
  CHECK_EQ(asker.cached(random_tokens(7, 1)), 0);
  CHECK_EQ(asker.cached(random_tokens(7, 1)), 0);
}

PAGODA_TEST(prefix_reuse_after_a_cancelled_prefill) {
  Asker asker(large());
  const Tokens prompt = random_tokens(8, 700);
  Recorder recorder;
  CHECK_OK(asker.harness().add(make_request(prompt, 2), 100, recorder));
  asker.harness().core->step();
  asker.harness().core->step();
  asker.harness().core->cancel(100);
  CHECK(recorder.reason == FinishReason::cancelled && recorder.tokens.empty());
  CHECK_EQ(asker.cached(prompt), 512);
}

PAGODA_TEST(prefix_reuse_after_preemption_recomputes_only_evicted_blocks) {
  const Shape shape{.num_blocks = 46, .max_num_seqs = 2, .max_num_tokens = 256, .max_checkpoints = 8};
  FakeHarness harness(shape, {kTurnEnd}), off(large(), {kTurnEnd});
  const Request requests[] = {make_request(random_tokens(9, 300), 150), make_request(random_tokens(10, 300), 150)};
  Recorder seen[2], expected[2];
  for (uint64_t i = 0; i < 2; ++i) CHECK_OK(harness.add(requests[i], i + 1, seen[i]));
  harness.run();
  for (uint64_t i = 0; i < 2; ++i) {
    CHECK_OK(off.add(requests[i], i + 1, expected[i]));
    off.run();
    CHECK(seen[i].tokens == expected[i].tokens && seen[i].logprob_bits == expected[i].logprob_bits);
  }
  const EngineStats stats = harness.core->stats();
  CHECK(stats.num_preemptions > 0);
  // 450 tokens of either sequence; the younger resumed from a checkpoint, not from its beginning.
  test::note(std::to_string(stats.cache.num_recomputed_tokens) + " recomputed");
  CHECK(stats.cache.num_recomputed_tokens > 0 && stats.cache.num_recomputed_tokens < 150);
  CHECK_EQ(stats.num_computed_tokens, 2 * (300 + 149) + stats.cache.num_recomputed_tokens);
}

// A secret of one tenant must not change what another sees, whose blocks and slots contained it before.
PAGODA_TEST(prefix_reuse_never_shows_a_secret_to_another_tenant) {
  const Shape shape{.num_blocks = 20, .max_num_seqs = 2, .max_num_tokens = 64, .max_checkpoints = 3};
  Asker asker(shape);
  const Tokens shared = random_tokens(11, 100);
  for (int round = 0; round < 10; ++round) {
    Request secret = make_request(shared, 30);
    secret.cache_salt = "secret";
    secret.prompt_ids[static_cast<size_t>(round * 9)] = kFakeVocab - 1;
    asker.ask(secret);
    const Usage own = asker.ask(secret);
    CHECK(own.cached_tokens > 0);
    secret.cache_salt = round % 2 ? "" : "other";
    secret.checkpoint_positions = {50};
    const Usage foreign = asker.ask(secret);
    CHECK_EQ(foreign.matched_tokens <= round * 9, true);  // not even that this prompt was seen
  }
  CHECK(asker.harness().core->stats().cache.num_block_evictions > 0);
  CHECK(asker.harness().core->stats().cache.num_checkpoint_evictions > 0);
}

PAGODA_TEST(prefix_reuse_nothing_stays_of_a_failed_step) {
  FakeHarness harness(large(), {kTurnEnd});
  harness.model->fail_at_step = 1;
  Recorder failed, again;
  CHECK_OK(harness.add(make_request(random_tokens(12, 300), 4), 1, failed));
  harness.run();
  CHECK(failed.reason == FinishReason::error);
  const int32_t before = harness.core->stats().cache.num_checkpoints;
  CHECK_OK(harness.add(make_request(random_tokens(12, 300), 4), 2, again));
  harness.run();
  CHECK(again.usage.cached_tokens <= 256);  // from the step before the failed one
  CHECK(harness.core->stats().cache.num_checkpoints > before);
}

}  // namespace pagoda::engine
