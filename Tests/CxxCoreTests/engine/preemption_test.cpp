// The cost of preemptions if the pool has a fifth of the blocks that a load could fill: recomputed tokens, and steps.
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/fake_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;
using Tokens = std::vector<int32_t>;

constexpr int32_t kRows = 16, kMaxLength = 1200, kBlockSize = 16;
constexpr int64_t kFifth = kRows * kMaxLength / kBlockSize / 5;  // blocks

struct Load {
  const char* name;
  bool has_state, use_cache;
  bool ends_early = false;  // all answers might have 600 tokens, and their lengths are unknown
};

struct Outcome {
  int64_t num_must = 0;        // minimum number of tokens to compute
  double num_block_steps = 0;  // blocks held, summed over the steps of an answer
  std::vector<Tokens> answers;
  EngineStats stats;
};

PrefixLayout layout_for(const Load& load) {
  return {.fingerprint = load.name,
          .block_size = kBlockSize,
          .block_bytes = kBlockSize * sizeof(int32_t),
          .state_bytes = load.has_state ? sizeof(test::FakeModel::State) : 0};
}

Outcome run(const Load& load, int64_t num_blocks, int num_requests, std::shared_ptr<DiskStore> disk = nullptr,
            std::shared_ptr<HostStore> host = nullptr) {
  std::mt19937_64 rng(test::seed(16));
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  FakeHarness harness({.num_blocks = num_blocks,
                       .max_num_seqs = kRows,
                       .max_num_tokens = 256,
                       .has_state = load.has_state,
                       .max_checkpoints = 2 * kRows},
                      {}, std::move(disk), nullptr, std::move(host));
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<size_t> prompts, wanted;
  for (int i = 0; i < num_requests; ++i) {
    Request request;
    for (int n = pick(50, 600); n > 0; --n) request.prompt_ids.push_back(pick(10, 90));
    prompts.push_back(request.prompt_ids.size());
    wanted.push_back(static_cast<size_t>(pick(100, 600)));
    request.sampling.max_tokens = load.ends_early ? 600 : static_cast<int>(wanted.back());
    request.use_cache = load.use_cache;
    CHECK_OK(harness.add(request, static_cast<uint64_t>(i) + 1, *recorders.emplace_back(std::make_unique<Recorder>())));
  }
  while (harness.core->has_work()) {
    harness.core->step();
    for (size_t i = 0; i < recorders.size(); ++i)
      if (recorders[i]->tokens.size() == wanted[i] && !recorders[i]->finished) harness.core->cancel(i + 1);
  }
  harness.check_all_free();
  Outcome outcome;
  for (size_t i = 0; i < recorders.size(); ++i) {
    const auto prompt = static_cast<double>(prompts[i]), output = static_cast<double>(wanted[i]);
    outcome.num_must += static_cast<int64_t>(prompts[i] + wanted[i]) - 1;  // the last is not computed
    outcome.num_block_steps += output * ((prompt + output / 2) / kBlockSize + 0.5);
    outcome.answers.push_back(std::move(recorders[i]->tokens));
  }
  outcome.stats = harness.core->stats();
  return outcome;
}

}  // namespace

// Running sequences one by one would recompute nothing: so the steps are bounded too, by those of a pool that is
// always full.
PAGODA_TEST(preemption_computes_less_than_a_tenth_again_in_a_fifth_of_the_pool) {
  for (const Load& load :
       {Load{"attention", false, false}, Load{"attention, cached", false, true}, Load{"hybrid, cached", true, true},
        Load{"early ends", false, false, true}, Load{"hybrid, cached, early ends", true, true, true}}) {
    const Outcome outcome = run(load, kFifth, 100);
    const double tokens =
        static_cast<double>(outcome.stats.num_computed_tokens) / static_cast<double>(outcome.num_must);
    const double steps =
        static_cast<double>(outcome.stats.num_steps) * static_cast<double>(kFifth) / outcome.num_block_steps;
    test::note(std::string(load.name) + ": computed " + std::to_string(tokens) + " of what must be, in " +
               std::to_string(steps) + " of the steps of a full pool, " +
               std::to_string(outcome.stats.num_preemptions) + " preemptions");
    CHECK(outcome.stats.num_preemptions > 0);
    CHECK(tokens <= 1.1);
    CHECK(steps <= 1.25);
  }
}

// The blocks of a preempted sequence are written to disk, and read back when blocks are free again.
PAGODA_TEST(preemption_with_a_prefix_folder_computes_little_again) {
  for (const Load& load : {Load{"attention", false, true, true}, Load{"hybrid", true, true, true}}) {
    const auto disk = std::make_shared<DiskStore>(
        DiskStoreConfig{.folder = test::temporary_dir() + "/" + load.name,
                        .max_bytes = 1 << 30,
                        .fingerprint = load.name,
                        .block_size = kBlockSize,
                        .block_bytes = kBlockSize * sizeof(int32_t),
                        .state_bytes = load.has_state ? sizeof(test::FakeModel::State) : 0});
    const Outcome with = run(load, kFifth / 2, 40, disk), without = run(load, kFifth / 2, 40);
    test::note(std::string(load.name) + ": recomputed " + std::to_string(with.stats.cache.num_recomputed_tokens) +
               " tokens with a folder, " + std::to_string(without.stats.cache.num_recomputed_tokens) + " without");
    CHECK(with.stats.num_preemptions > 0 && without.stats.cache.num_recomputed_tokens > 0);
    CHECK(10 * with.stats.cache.num_recomputed_tokens <= without.stats.cache.num_recomputed_tokens);
    CHECK(with.answers == without.answers);
  }
}

// The same in host memory: if the limit suffices for the preempted sequences, only the last tokens are computed
// again.
PAGODA_TEST(preemption_with_a_host_cache_computes_little_again) {
  for (const Load& load : {Load{"attention", false, true, true}, Load{"hybrid", true, true, true}}) {
    const auto host = std::make_shared<HostStore>(layout_for(load), 1 << 20);
    const Outcome with = run(load, kFifth / 2, 40, nullptr, host), without = run(load, kFifth / 2, 40);
    test::note(std::string(load.name) + ": recomputed " + std::to_string(with.stats.cache.num_recomputed_tokens) +
               " tokens with a host cache, " + std::to_string(without.stats.cache.num_recomputed_tokens) +
               " without; " + std::to_string(with.stats.host.num_hits) + " prefixes read");
    CHECK(with.stats.num_preemptions > 0 && without.stats.cache.num_recomputed_tokens > 0);
    CHECK(10 * with.stats.cache.num_recomputed_tokens <= without.stats.cache.num_recomputed_tokens);
    CHECK(with.stats.host.num_hits > 0 && with.stats.host.bytes <= 1 << 20);
    CHECK_EQ(without.stats.host.max_bytes, 0);
    CHECK(with.answers == without.answers);
  }
}

}  // namespace pagoda::engine
