// R1 with the prefix cache: regardless of cache hits, tokens and logprobs are bit-identical to a run without it; and
// everything that can be found is found. Real models on the CPU device.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/model_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::ModelHarness;
using test::Recorder;
using Tokens = std::vector<int32_t>;

std::string fixture(const char* name) { return test::fixtures_dir() + "/model/" + name; }

Tokens random_tokens(std::mt19937_64& rng, int count) {
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(rng() % 95));
  return tokens;
}

Request make_request(const Tokens& prompt, int max_tokens, Tokens positions = {}) {
  Request request;
  request.prompt_ids = prompt;
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = 0.9f;
  request.sampling.has_seed = true;
  request.sampling.seed = prompt.size();
  request.sampling.num_top_logprobs = 2;
  request.sampling.ignore_eos = true;
  request.checkpoint_positions = std::move(positions);
  return request;
}

// The same model twice, with and without the cache; every answer is compared.
class Pair {
 public:
  Pair(const std::string& folder, EngineOptions options) {
    on_ = ModelHarness::open(folder, options);
    options.prefix_cache = false;
    off_ = ModelHarness::open(folder, options);
  }
  bool is_open() const { return on_ && off_; }

  // Answers to all, submitted together.
  std::vector<std::unique_ptr<Recorder>> ask(const std::vector<Request>& requests) {
    auto seen = run(*on_, requests), expected = run(*off_, requests);
    for (size_t i = 0; i < requests.size(); ++i) {
      CHECK(seen[i]->tokens == expected[i]->tokens && !seen[i]->tokens.empty());
      CHECK(seen[i]->logprob_bits == expected[i]->logprob_bits && !seen[i]->logprob_bits.empty());
      CHECK_EQ(expected[i]->usage.cached_tokens, 0);
    }
    return seen;
  }
  // The answer to one request; `expected_cached` of its prompt tokens must be cached.
  Tokens ask(const Request& request, int expected_cached) {
    auto seen = ask(std::vector<Request>{request});
    CHECK_EQ(seen[0]->usage.cached_tokens, expected_cached);
    return seen[0]->tokens;
  }
  EngineStats stats() const { return on_->core->stats(); }

 private:
  std::vector<std::unique_ptr<Recorder>> run(ModelHarness& harness, const std::vector<Request>& requests) {
    std::vector<std::unique_ptr<Recorder>> recorders;
    for (const Request& request : requests)
      CHECK(harness.add(request, ++last_id_, *recorders.emplace_back(std::make_unique<Recorder>())));
    while (harness.core->has_work()) harness.core->step();
    harness.check_all_free();
    return recorders;
  }

  std::unique_ptr<ModelHarness> on_, off_;
  uint64_t last_id_ = 0;
};

Tokens joined(Tokens first, const Tokens& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Setting {
  const char* model = "qwen3_5";
  int32_t block_size = 16, chunk = 64;
  const char *kv_dtype = "auto", *state_dtype = "float32";
};

EngineOptions options_for(const Setting& setting) {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  options.max_num_seqs = 4;
  options.block_size = setting.block_size;
  options.max_num_batched_tokens = setting.chunk;
  options.kv_dtype = setting.kv_dtype;
  options.state_dtype = setting.state_dtype;
  options.max_model_len = 512;
  return options;
}

void check_conversation(const Setting& setting) {
  std::mt19937_64 rng(test::seed(41));
  Pair pair(fixture(setting.model), options_for(setting));
  REQUIRE(pair.is_open());
  const bool has_state = pair.stats().num_state_slots > 0;
  const Tokens first = random_tokens(rng, 70);
  const Tokens answer = pair.ask(make_request(first, 12), 0);
  const int cached = 70 + 12 - 1;  // the last token of an answer is never computed

  // An append-only turn continues from the end of the answer; the same again from just before its last token.
  const Tokens second = joined(joined(first, answer), random_tokens(rng, 25));
  pair.ask(make_request(second, 9), cached);
  for (int i = 0; i < 2; ++i) pair.ask(make_request(second, 9), 106);

  // The last message edited: resumes at the end of the answer before it. A shorter prompt than any cached one.
  Tokens edited = second;
  edited[90] = (edited[90] + 1) % 95;
  pair.ask(make_request(edited, 9), has_state ? cached : 90);
  pair.ask(make_request(Tokens(first.begin(), first.begin() + 20), 5), has_state ? 0 : 19);
}

}  // namespace

PAGODA_TEST(prefix_cache_conversations_are_the_same_bits) {
  for (int32_t block_size : {8, 16, 32})
    for (int32_t chunk : {7, 64, 256}) check_conversation({.block_size = block_size, .chunk = chunk});
  check_conversation({.model = "qwen3_5_real_heads"});
  check_conversation({.model = "qwen3_5", .kv_dtype = "int8"});
  check_conversation({.model = "qwen3_5", .state_dtype = "bfloat16"});
  for (const char* model : {"qwen3", "qwen2", "llama3"})
    for (int32_t block_size : {8, 32}) check_conversation({.model = model, .block_size = block_size});
}

PAGODA_TEST(prefix_cache_prompts_may_diverge_at_any_offset_of_a_block) {
  for (const char* model : {"qwen3_5", "qwen3"})
    for (int32_t block_size : {8, 16, 32}) {
      std::mt19937_64 rng(test::seed(42));
      Pair pair(fixture(model), options_for({.model = model, .block_size = block_size}));
      REQUIRE(pair.is_open());
      const Tokens prompt = random_tokens(rng, 100), offsets{31, 32, 33, 47, 48, 49, 63, 64, 65};
      pair.ask(make_request(prompt, 3, offsets), 0);
      for (int32_t offset : offsets) {
        Tokens other = prompt;
        for (size_t i = static_cast<size_t>(offset); i < other.size(); ++i) other[i] = (other[i] + 1) % 95;
        pair.ask(make_request(other, 3), offset);
      }
    }
}

PAGODA_TEST(prefix_cache_requests_at_once_compute_their_prompt_once) {
  for (const char* model : {"qwen3_5", "qwen3"}) {
    std::mt19937_64 rng(test::seed(43));
    Pair pair(fixture(model), options_for({.model = model, .chunk = 32}));
    REQUIRE(pair.is_open());
    const Tokens prompt = random_tokens(rng, 150);
    std::vector<Request> branches;
    for (uint64_t i = 0; i < 4; ++i) {
      branches.push_back(make_request(prompt, 20));
      branches.back().sampling.seed = i;
    }
    const auto seen = pair.ask(branches);
    int num_at_once = 0;
    for (const auto& recorder : seen) num_at_once += recorder->usage.cached_tokens >= 144;
    CHECK_EQ(num_at_once, 3);
    CHECK(seen[0]->tokens != seen[1]->tokens);
    // 150 once, up to 6 of the last block per branch, and 19 per answer.
    CHECK(pair.stats().num_computed_tokens <= 150 + 3 * 6 + 4 * 19);
  }
}

PAGODA_TEST(prefix_cache_under_pressure_gives_up_blocks_and_not_bits) {
  for (const char* model : {"qwen3_5", "qwen3"}) {
    std::mt19937_64 rng(test::seed(44));
    EngineOptions options = options_for({.model = model});
    options.num_kv_blocks = 14;
    options.max_model_len = 200;
    Pair pair(fixture(model), options);
    REQUIRE(pair.is_open());
    std::vector<Tokens> prompts;
    for (int i = 0; i < 4; ++i) prompts.push_back(random_tokens(rng, 50 + 13 * i));
    for (int round = 0; round < 12; ++round) {
      std::vector<Request> requests;
      for (int i = 0; i < 3; ++i)
        requests.push_back(make_request(joined(prompts[rng() % 4], random_tokens(rng, 1 + static_cast<int>(rng() % 9))),
                                        5 + static_cast<int>(rng() % 40)));
      pair.ask(requests);
    }
    const EngineStats stats = pair.stats();
    CHECK(stats.cache.num_block_evictions > 0);
    CHECK(stats.cache.num_hits > 0);
    CHECK(stats.num_preemptions > 0);
    test::note(std::to_string(stats.cache.num_hits) + " hits, " + std::to_string(stats.num_preemptions) +
               " preemptions, " + std::to_string(stats.cache.num_recomputed_tokens) + " recomputed");
  }
}

PAGODA_TEST(prefix_cache_off_for_a_request_reads_and_leaves_nothing) {
  std::mt19937_64 rng(test::seed(45));
  Pair pair(fixture("qwen3_5"), options_for({}));
  REQUIRE(pair.is_open());
  Request secret = make_request(random_tokens(rng, 60), 4);
  secret.use_cache = false;
  pair.ask(secret, 0);
  CHECK_EQ(pair.stats().cache.num_cached_blocks, 0);
  CHECK_EQ(pair.stats().cache.num_checkpoints, 0);
  secret.use_cache = true;
  pair.ask(secret, 0);
  secret.use_cache = false;
  pair.ask(secret, 0);
  secret.use_cache = true;
  secret.cache_salt = "another tenant";
  pair.ask(secret, 0);
  pair.ask(secret, 59);
  secret.cache_salt = std::string(257, 'x');
  Recorder recorder;
  auto harness = ModelHarness::open(fixture("qwen3_5"), options_for({}));
  REQUIRE(harness != nullptr);
  CHECK(!harness->add(secret, 1, recorder));
}

}  // namespace pagoda::engine
