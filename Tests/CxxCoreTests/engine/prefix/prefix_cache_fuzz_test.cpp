// The prefix cache under random schedules of a fake model, whose logits are a hash of every block, slot and position it
// was given: joins, aborts, preemptions, evictions, restores, tenants.
#include <map>
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
constexpr int32_t kCanary = kFakeVocab - 1;  // only in prompts of the tenant "secret"

struct Reach {
  int64_t num_requests = 0, num_aborts = 0;
  EngineStats sum;

  void add(const EngineStats& stats) {
    sum.num_preemptions += stats.num_preemptions;
    sum.cache.num_hits += stats.cache.num_hits;
    sum.cache.num_cached_tokens += stats.cache.num_cached_tokens;
    sum.cache.num_recomputed_tokens += stats.cache.num_recomputed_tokens;
    sum.cache.num_block_evictions += stats.cache.num_block_evictions;
    sum.cache.num_checkpoint_evictions += stats.cache.num_checkpoint_evictions;
    sum.host.num_hits += stats.host.num_hits;
    sum.host.num_evictions += stats.host.num_evictions;
    sum.disk.num_reads += stats.disk.num_reads;
    sum.disk.num_evictions += stats.disk.num_evictions;
    sum.disk.num_bad_files += stats.disk.num_bad_files;
  }
};

class Schedule {
 public:
  explicit Schedule(uint64_t seed) : rng_(seed) {
    shape_.block_size = 8 << pick(0, 2);
    shape_.num_blocks = pick(160, 600) / shape_.block_size;
    shape_.max_num_seqs = pick(1, 5);
    shape_.max_num_tokens = pick(shape_.max_num_seqs, 60);
    shape_.has_state = pick(0, 3) > 0;
    shape_.max_checkpoints = pick(0, 2) == 0 ? pick(0, 3) : pick(4, 40);
    for (Tokens& base : bases_)
      for (int n = pick(10, 110); n > 0; --n) base.push_back(pick(0, 11) == 0 ? kTurnEnd : pick(6, 90));
  }

  // `folder`: where prefixes outlive the harness; none if empty. `host_bytes`: size of a cache in host memory.
  void run(int num_requests, Reach& reach, const std::string& folder = {}, int64_t host_bytes = 0) {
    const std::shared_ptr<HostStore> host =
        host_bytes > 0 ? std::make_shared<HostStore>(layout(), host_bytes) : nullptr;
    FakeHarness harness(shape_, {kTurnEnd}, open_disk(folder), nullptr, host), solo(large(), {kTurnEnd});
    struct Entry {
      Request request;
      Recorder recorder;
      bool aborted = false;
    };
    std::map<uint64_t, Entry> entries;
    uint64_t last_id = 0;
    while (last_id < static_cast<uint64_t>(num_requests) || harness.core->has_work()) {
      if (last_id < static_cast<uint64_t>(num_requests) && pick(0, 2) > 0) {
        Entry& entry = entries[++last_id];
        entry.request = make_request();
        CHECK_OK(harness.add(entry.request, last_id, entry.recorder));
      }
      if (!entries.empty() && pick(0, 24) == 0) {
        auto& [id, entry] = *std::prev(entries.end(), pick(1, std::min(6, static_cast<int>(entries.size()))));
        if (!entry.recorder.finished) entry.aborted = true, ++reach.num_aborts;
        harness.core->cancel(id);
      }
      harness.core->step();
      CHECK(harness.core->stats().host.bytes <= host_bytes);
    }
    harness.check_all_free();
    for (auto& [id, entry] : entries) compare(solo, id, entry.request, entry.recorder, entry.aborted);
    reach.num_requests += num_requests;
    const EngineStats stats = harness.core->stats();
    CHECK(stats.cache.num_checkpoint_hits <= stats.cache.num_lookups + stats.num_preemptions);  // none for waiting ones
    reach.add(stats);
  }

 private:
  int pick(int low, int high) { return static_cast<int>(low + rng_() % static_cast<uint64_t>(high - low + 1)); }

  std::shared_ptr<DiskStore> open_disk(const std::string& folder) const {
    if (folder.empty()) return nullptr;
    return std::make_shared<DiskStore>(
        DiskStoreConfig{.folder = folder,
                        .max_bytes = 30000,
                        .fingerprint = shape_.has_state ? "hybrid" : "attention",
                        .block_size = shape_.block_size,
                        .block_bytes = static_cast<uint64_t>(shape_.block_size) * sizeof(int32_t),
                        .state_bytes = shape_.has_state ? sizeof(test::FakeModel::State) : 0});
  }

  PrefixLayout layout() const {
    return {.fingerprint = shape_.has_state ? "hybrid" : "attention",
            .block_size = shape_.block_size,
            .block_bytes = static_cast<uint64_t>(shape_.block_size) * sizeof(int32_t),
            .state_bytes = shape_.has_state ? sizeof(test::FakeModel::State) : 0};
  }

  Shape large() const {
    Shape shape = shape_;
    shape.num_blocks = 64;
    shape.max_num_tokens = 1024;
    return shape;
  }

  Request make_request() {
    Request request;
    const Tokens& base = bases_[static_cast<size_t>(pick(0, 3))];
    request.prompt_ids.assign(base.begin(), base.begin() + pick(1, static_cast<int>(base.size())));
    for (int n = pick(0, 6); n > 0; --n) request.prompt_ids.push_back(pick(6, 9));
    if (pick(0, 4) == 0) {
      request.cache_salt = "secret";
      request.prompt_ids[rng_() % request.prompt_ids.size()] = kCanary;
    }
    request.use_cache = pick(0, 19) > 0;
    request.priority = pick(0, 3) == 0 ? pick(-1, 1) : 0;
    request.share_id.assign(static_cast<size_t>(pick(0, 2)), 's');
    if (pick(0, 3) == 0) request.checkpoint_positions = {pick(-1, 130), pick(0, 130)};
    request.sampling.max_tokens = pick(1, 30);
    request.sampling.num_top_logprobs = 0;
    request.sampling.has_seed = true;
    request.sampling.seed = static_cast<uint64_t>(pick(0, 3));
    request.sampling.temperature = pick(0, 1) ? 0.8f : 0.0f;
    return request;
  }

  static void compare(FakeHarness& solo, uint64_t id, Request request, const Recorder& seen, bool aborted) {
    request.use_cache = false;
    Recorder expected;
    CHECK_OK(solo.add(request, id, expected));
    solo.run();
    CHECK(seen.finished.load());
    if (aborted) {
      expected.tokens.resize(seen.tokens.size());
      expected.logprob_bits.resize(seen.tokens.size());
    }
    CHECK(seen.tokens == expected.tokens);
    CHECK(seen.logprob_bits == expected.logprob_bits);
  }

  std::mt19937_64 rng_;
  Shape shape_;
  Tokens bases_[4];
};

}  // namespace

PAGODA_TEST(prefix_cache_random_schedules_change_no_token) {
  constexpr int64_t kNumRequests = 20000;
  const uint64_t first = test::seed(500);
  Reach reach;
  for (uint64_t i = 0; reach.num_requests < kNumRequests && !test::failed(); ++i) {
    Schedule(first + i).run(40, reach);
    if (test::failed()) test::note("schedule " + std::to_string(first + i));
  }
  const CacheStats& cache = reach.sum.cache;
  test::note(std::to_string(reach.num_requests) + " requests, " + std::to_string(cache.num_hits) + " hits, " +
             std::to_string(cache.num_cached_tokens) + " tokens found, " + std::to_string(reach.num_aborts) +
             " aborts, " + std::to_string(reach.sum.num_preemptions) + " preemptions, " +
             std::to_string(cache.num_recomputed_tokens) + " tokens recomputed, " +
             std::to_string(cache.num_block_evictions) + " blocks and " +
             std::to_string(cache.num_checkpoint_evictions) + " checkpoints evicted");
  CHECK(cache.num_hits > reach.num_requests / 4);
  CHECK(reach.num_aborts > 0 && reach.sum.num_preemptions > 0);
  CHECK(cache.num_block_evictions > 0 && cache.num_checkpoint_evictions > 0);
}

// The same prompts repeatedly, in changing engines.
PAGODA_TEST(prefix_cache_random_schedules_with_restarts_change_no_token) {
  const uint64_t first = test::seed(900);
  const std::string folder = test::temporary_dir();
  Reach reach;
  for (uint64_t i = 0; i < 12 && !test::failed(); ++i) {
    Schedule(first + i % 3).run(20, reach, folder);
    if (test::failed()) test::note("schedule " + std::to_string(first + i));
  }
  test::note(std::to_string(reach.sum.disk.num_reads) + " files read, " + std::to_string(reach.sum.disk.num_evictions) +
             " evicted");
  CHECK(reach.sum.disk.num_reads > 0);
  CHECK_EQ(reach.sum.disk.num_bad_files, 0);
}

// Host caches of all sizes, some so small that most prefixes do not fit, some with a folder behind them that has the
// same prompts from the previous engine.
PAGODA_TEST(prefix_cache_random_schedules_with_a_host_cache_change_no_token) {
  const uint64_t first = test::seed(1300);
  const std::string folder = test::temporary_dir();
  Reach reach;
  for (uint64_t i = 0; i < 60 && !test::failed(); ++i) {
    const bool has_folder = i % 5 == 0;
    Schedule(first + (has_folder ? i / 5 % 3 : i)).run(30, reach, has_folder ? folder : "", 1000 << i % 6);
    if (test::failed()) test::note("round " + std::to_string(i));
  }
  test::note(std::to_string(reach.sum.host.num_hits) + " prefixes read back, " +
             std::to_string(reach.sum.host.num_evictions) + " evicted, " + std::to_string(reach.sum.num_preemptions) +
             " preemptions, " + std::to_string(reach.sum.disk.num_reads) + " files read");
  CHECK(reach.sum.host.num_hits > 0 && reach.sum.host.num_evictions > 0);
  CHECK(reach.sum.num_preemptions > 0 && reach.sum.disk.num_reads > 0);
}

}  // namespace pagoda::engine
