// engine core: if every layer has a sliding window, blocks outside it are freed, and answers stay the same.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/model_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::Recorder;
using Harness = test::ModelHarness;

EngineOptions options_for(int64_t num_blocks, bool prefix_cache) {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  options.block_size = 16;
  options.max_num_seqs = 4;
  options.max_model_len = 192;
  options.num_kv_blocks = num_blocks;
  options.prefix_cache = prefix_cache;
  return options;
}

std::vector<Request> make_requests(int32_t vocab_size) {
  std::mt19937_64 rng(test::seed(70));
  std::vector<Request> requests(8);
  for (Request& request : requests) {
    for (uint64_t i = 5 + rng() % 60; i > 0; --i)
      request.prompt_ids.push_back(static_cast<int32_t>(rng() % static_cast<uint64_t>(vocab_size)));
    request.sampling.max_tokens = static_cast<int32_t>(60 + rng() % 60);
    request.sampling.num_top_logprobs = 2;
    request.sampling.ignore_eos = true;
    request.sampling.has_seed = true;
  }
  return requests;
}

}  // namespace

PAGODA_TEST(window_frees_the_blocks_that_no_layer_sees) {
  const std::string folder = test::fixtures_dir() + "/model/mistral";  // a window of 24 tokens
  auto large = Harness::open(folder, options_for(48, /*prefix_cache=*/true));
  auto crowded = Harness::open(folder, options_for(22, /*prefix_cache=*/false));
  REQUIRE(large && crowded);
  CHECK_EQ(crowded->loaded.core.limits.attention_window, 24);
  const std::vector<Request> requests = make_requests(crowded->loaded.core.vocab_size);
  std::vector<Recorder> together(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) REQUIRE(crowded->add(requests[i], i + 1, together[i]));
  int64_t most_used = 0;
  while (crowded->core->has_work()) {
    crowded->core->step();
    const EngineStats stats = crowded->core->stats();
    most_used = std::max(most_used, stats.num_blocks - stats.num_free_blocks);
  }
  crowded->check_all_free();
  // Four sequences of up to 180 tokens need 48 blocks. A decoding one sees at most 3 and fills one more.
  CHECK_EQ(crowded->core->stats().num_preemptions, 0);
  CHECK(most_used <= 22);
  for (size_t i = 0; i < requests.size(); ++i) {
    Recorder alone;
    REQUIRE(large->add(requests[i], i + 1, alone));
    while (large->core->has_work()) large->core->step();
    CHECK(together[i].tokens == alone.tokens && together[i].logprob_bits == alone.logprob_bits);
    CHECK_EQ(alone.tokens.size(), static_cast<size_t>(requests[i].sampling.max_tokens));
  }
  large->check_all_free();
}

PAGODA_TEST(window_frees_nothing_that_another_layer_sees) {
  for (const char* name : {"gemma3", "qwen2", "qwen3"}) {
    auto harness = Harness::open(test::fixtures_dir() + "/model/" + name, options_for(48, false));
    REQUIRE(harness);
    CHECK_EQ(harness->loaded.core.limits.attention_window, 0);
  }
}

}  // namespace pagoda::engine
