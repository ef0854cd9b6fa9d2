// Prefixes in host memory: found after the device evicted them, within the limit, and never by another
// tenant.
#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/fake_harness.h"
#include "engine/model_harness.h"
#include "engine/prefix/disk_cache_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::ModelHarness;
using test::Recorder;

PrefixLayout fake_layout() {
  return {.fingerprint = "fake",
          .block_size = 16,
          .block_bytes = 16 * sizeof(int32_t),
          .state_bytes = sizeof(test::FakeModel::State)};
}

// Stores a prefix of zeros for `tokens`; false if the store does not need it.
bool keep(PrefixStore& store, const Tokens& tokens, const std::string& salt = "") {
  auto head = store.plan(salt, tokens);
  if (!head) return false;
  std::vector<std::byte> blocks(static_cast<size_t>(head->num_blocks()) * head->block_bytes), state(head->state_bytes);
  store.write(std::make_shared<PrefixStore::Content>(
      PrefixStore::Content{std::move(*head), tokens, std::move(blocks), std::move(state)}));
  return true;
}

Tokens first_of(const Tokens& tokens, size_t count) {
  return {tokens.begin(), tokens.begin() + static_cast<long>(count)};
}

Tokens with_one_more(Tokens tokens) {
  tokens.push_back(1);
  return tokens;
}

bool has(PrefixStore& store, const Tokens& tokens, const std::string& salt = "") {
  const auto next = store.find_next(salt, with_one_more(tokens), static_cast<int32_t>(tokens.size()) - 1, 0);
  return next && next->last_position == static_cast<int32_t>(tokens.size());
}

EngineOptions options_for(int64_t host_bytes, int64_t num_blocks) {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  options.max_num_batched_tokens = 64;
  options.num_kv_blocks = num_blocks;
  options.host_cache_bytes = host_bytes;
  return options;
}

std::string fixture(const char* name) { return test::fixtures_dir() + "/model/" + name; }

struct Answers {
  std::vector<std::unique_ptr<Recorder>> seen;
  EngineStats stats;
};

// All concurrently, or one after another.
Answers ask(const char* model, const EngineOptions& options, const std::vector<Tokens>& prompts, bool at_once,
            int32_t max_tokens) {
  Answers answers;
  auto harness = ModelHarness::open(fixture(model), options);
  if (!harness) return answers;
  CHECK_EQ(harness->loaded.core.host != nullptr, options.host_cache_bytes > 0);
  for (const Tokens& prompt : prompts) {
    Request request = make_request(prompt);
    request.sampling.max_tokens = max_tokens;
    CHECK(harness->add(request, answers.seen.size() + 1, *answers.seen.emplace_back(std::make_unique<Recorder>())));
    while (!at_once && harness->core->has_work()) harness->core->step();
  }
  while (harness->core->has_work()) harness->core->step();
  harness->check_all_free();
  answers.stats = harness->core->stats();
  return answers;
}

void compare(const Answers& seen, const Answers& expected) {
  REQUIRE(!seen.seen.empty() && seen.seen.size() == expected.seen.size());
  for (size_t i = 0; i < seen.seen.size(); ++i) {
    CHECK(seen.seen[i]->tokens == expected.seen[i]->tokens);
    CHECK(seen.seen[i]->logprob_bits == expected.seen[i]->logprob_bits);
  }
}

}  // namespace

// The second prompt takes the blocks of the first.
PAGODA_TEST(host_cache_finds_a_prompt_whose_blocks_were_given_away) {
  for (const char* model : {"qwen3_5", "qwen3"}) {
    const Tokens first = random_tokens(1, 200), second = random_tokens(2, 220);
    const std::vector<Tokens> prompts{first, second, first};
    const Answers off = ask(model, options_for(0, 15), prompts, false, 8);
    const Answers on = ask(model, options_for(64 << 20, 15), prompts, false, 8);
    compare(on, off);
    test::note(std::string(model) + ": " + std::to_string(on.seen[2]->usage.cached_tokens) + " tokens found, " +
               std::to_string(off.seen[2]->usage.cached_tokens) + " without, " +
               std::to_string(on.stats.host.num_hits) + " prefixes read of " +
               std::to_string(on.stats.host.num_writes));
    CHECK(off.seen[2]->usage.cached_tokens < 32);
    CHECK(on.seen[2]->usage.cached_tokens >= 192);
    CHECK(on.stats.host.num_hits > 0 && on.stats.host.num_writes >= 2 && on.stats.host.num_evictions == 0);
    CHECK(on.stats.host.bytes > 0 && on.stats.host.bytes <= on.stats.host.max_bytes);
    CHECK_EQ(off.stats.host.max_bytes + off.stats.host.bytes, 0);
  }
}

// GPU kernels: blocks and states are copied out of the device's buffers and back.
PAGODA_TEST(host_cache_finds_a_prompt_that_a_gpu_gave_away) {
  const Tokens first = random_tokens(3, 40), second = random_tokens(4, 50);
  const std::vector<Tokens> prompts{first, second, first};
  EngineOptions without = options_for(0, 4), with = options_for(64 << 20, 4);
  without.device = with.device = "software";
  const Answers off = ask("qwen3_5", without, prompts, false, 2), on = ask("qwen3_5", with, prompts, false, 2);
  compare(on, off);
  CHECK_EQ(off.seen[2]->usage.cached_tokens, 0);
  CHECK_EQ(on.seen[2]->usage.cached_tokens, 39);
  CHECK(on.stats.host.num_hits > 0);
}

// Six answers in a pool large enough for two and a half.
PAGODA_TEST(host_cache_preempted_answers_have_the_bits_of_those_alone) {
  for (const char* model : {"qwen3_5", "qwen3"}) {
    std::vector<Tokens> prompts;
    for (uint64_t i = 0; i < 6; ++i) prompts.push_back(random_tokens(30 + i, 40 + static_cast<int>(i) * 9));
    const Answers alone = ask(model, options_for(0, 64), prompts, false, 60);
    const Answers pressed = ask(model, options_for(0, 22), prompts, true, 60);
    const Answers kept = ask(model, options_for(64 << 20, 22), prompts, true, 60);
    compare(pressed, alone);
    compare(kept, alone);
    test::note(std::string(model) + ": " + std::to_string(kept.stats.num_preemptions) + " preemptions, " +
               std::to_string(kept.stats.cache.num_recomputed_tokens) + " tokens computed again with, " +
               std::to_string(pressed.stats.cache.num_recomputed_tokens) + " without");
    CHECK(kept.stats.num_preemptions > 0 && kept.stats.host.num_hits > 0);
    CHECK(kept.stats.cache.num_recomputed_tokens <= pressed.stats.cache.num_recomputed_tokens);
  }
}

PAGODA_TEST(host_cache_gives_up_the_least_recently_used_within_its_limit) {
  const Tokens a = random_tokens(1, 64), b = random_tokens(2, 64), c = random_tokens(3, 64);
  HostStore probe(fake_layout(), 1 << 20);
  REQUIRE(keep(probe, a));
  const int64_t size = probe.stats().bytes;
  CHECK(size >= static_cast<int64_t>(4 * fake_layout().block_bytes + fake_layout().state_bytes + 64 * sizeof(int32_t)));

  HostStore store(fake_layout(), 2 * size);
  CHECK(keep(store, a) && keep(store, b) && !keep(store, b));
  CHECK(has(store, a));  // used last
  CHECK(keep(store, c));
  CHECK(has(store, a) && !has(store, b) && has(store, c));
  const HostCacheStats stats = store.stats();
  CHECK(stats.bytes == 2 * size && stats.num_prefixes == 2 && stats.num_evictions == 1 && stats.num_writes == 3);

  HostStore small(fake_layout(), size - 1);
  CHECK(!keep(small, a));
  CHECK(small.stats().num_dropped == 1 && small.stats().bytes == 0);
}

// A prefix without its parents cannot be used, so none is kept, and no parent is evicted before its children.
PAGODA_TEST(host_cache_chains_stay_whole_under_random_use) {
  std::mt19937_64 rng(test::seed(7));
  const auto pick = [&](size_t count) { return static_cast<size_t>(rng() % count); };
  constexpr int64_t kMaxBytes = 12000;
  HostStore store(fake_layout(), kMaxBytes);
  std::vector<Tokens> texts;
  for (uint64_t i = 0; i < 6; ++i) texts.push_back(random_tokens(100 + i, 400));
  for (size_t i = 3; i < 6; ++i) std::copy_n(texts[i - 3].begin(), 150, texts[i].begin());  // these diverge there
  for (int round = 0; round < 3000; ++round) {
    const Tokens& text = texts[pick(texts.size())];
    const Tokens tokens = first_of(text, 32 + pick(300));
    if (rng() % 2 == 0) keep(store, tokens);
    else (void)store.find_next("", tokens, 0, 0);
    CHECK(store.stats().bytes <= kMaxBytes);
  }
  // Everything kept can be read from its first block on: the prefixes read, each continuing the last, are all present.
  int64_t num_read = 0;
  for (const Tokens& text : texts) {
    int64_t num_blocks = 0;
    for (;;) {
      const auto next = store.find_next("", text, static_cast<int32_t>(num_blocks) * 16, num_blocks);
      if (!next) break;
      const auto content = store.read(*next, "", text);
      REQUIRE(content.is_ok());
      CHECK((*content)->head.first_block() <= num_blocks);
      num_blocks = std::max(num_blocks + 1, int64_t{next->position / 16});
      ++num_read;
      if (next->is_last) break;
    }
  }
  const HostCacheStats stats = store.stats();
  test::note(std::to_string(stats.num_prefixes) + " prefixes kept, " + std::to_string(num_read) + " read, " +
             std::to_string(stats.num_evictions) + " evicted, " + std::to_string(stats.num_dropped) + " dropped");
  CHECK(num_read > 0 && stats.num_evictions > 100);
}

PAGODA_TEST(host_cache_tenants_share_nothing) {
  HostStore store(fake_layout(), 1 << 20);
  const Tokens tokens = random_tokens(5, 100);
  REQUIRE(keep(store, tokens, "one"));
  CHECK(has(store, tokens, "one") && !has(store, tokens, "two") && !has(store, tokens));
  const auto next = store.find_next("one", with_one_more(tokens), 0, 0);
  REQUIRE(next.has_value());
  CHECK(!store.read(*next, "two", with_one_more(tokens)).is_ok());  // even with the other tenant's key

  const auto host = std::make_shared<HostStore>(fake_layout(), 1 << 20);
  FakeHarness harness({.num_blocks = 20, .max_checkpoints = 8}, {}, nullptr, nullptr, host);
  const auto ask_as = [&](const std::string& salt, uint64_t id, const Tokens& prompt) {
    Recorder recorder;
    Request request = make_request(prompt);
    request.cache_salt = salt;
    CHECK_OK(harness.add(request, id, recorder));
    harness.run();
    return recorder.usage.cached_tokens;
  };
  const Tokens prompt = random_tokens(6, 200), other = random_tokens(7, 250);
  CHECK_EQ(ask_as("one", 1, prompt), 0);
  CHECK_EQ(ask_as("two", 2, other), 0);  // reuses the blocks
  CHECK_EQ(ask_as("two", 3, prompt), 0);
  ask_as("two", 4, other);
  CHECK(ask_as("one", 5, prompt) >= 192);
}

// If host memory has the start of a prompt, only the rest is read from the folder.
PAGODA_TEST(host_cache_and_folder_complete_each_other) {
  const std::string folder = test::temporary_dir();
  const auto open_disk = [&] {
    return std::make_shared<DiskStore>(DiskStoreConfig{.folder = folder,
                                                       .max_bytes = 1 << 20,
                                                       .fingerprint = "fake",
                                                       .block_size = 16,
                                                       .block_bytes = 16 * sizeof(int32_t),
                                                       .state_bytes = sizeof(test::FakeModel::State)});
  };
  const Tokens text = random_tokens(8, 300), other = random_tokens(9, 400);
  const auto ask_for = [](FakeHarness& harness, const Tokens& prompt) {
    Recorder recorder;
    CHECK_OK(harness.add(make_request(prompt), 1, recorder));
    harness.run();
    return std::pair(recorder.usage.cached_tokens, recorder.tokens);
  };
  const test::Shape shape{.num_blocks = 30, .max_checkpoints = 8};
  FakeHarness cold(shape);
  const auto expected = ask_for(cold, text).second;
  {
    const auto disk = open_disk();
    FakeHarness writer(shape, {}, disk);
    ask_for(writer, text);
    disk->flush();
  }
  const auto host = std::make_shared<HostStore>(fake_layout(), 1 << 20);
  const auto disk = open_disk();
  FakeHarness harness(shape, {}, disk, nullptr, host);
  ask_for(harness, first_of(text, 150));
  ask_for(harness, other);
  const HostCacheStats host_before = host->stats();
  const DiskStats disk_before = disk->stats();
  const auto seen = ask_for(harness, text);
  CHECK(seen.second == expected);
  CHECK(seen.first >= 296);
  CHECK(host->stats().num_hits > host_before.num_hits);
  CHECK(disk->stats().num_reads > disk_before.num_reads);
  CHECK_EQ(disk->stats().num_bad_files, 0);
}

PAGODA_TEST(host_cache_is_a_part_of_the_memory_plan) {
  const ModelSource source{fixture("qwen3_5"), {}};
  const auto without = inspect(source, options_for(0, 20)), with = inspect(source, options_for(5 << 20, 20));
  REQUIRE(without.is_ok() && with.is_ok());
  CHECK_EQ(without->plan.host_cache_bytes, 0);
  CHECK_EQ(with->plan.host_cache_bytes, 5 << 20);
  CHECK_EQ(with->plan.total_bytes(), without->plan.total_bytes() + (5 << 20));  // the CPU's memory is the host's

  EngineOptions options = options_for(int64_t{1} << 50, 20);
  const auto too_much = inspect(source, options);
  CHECK(too_much.status.code == StatusCode::out_of_memory);
  CHECK(too_much.status.message.find("host cache") != std::string::npos);
  options.host_cache_bytes = -1;
  CHECK(inspect(source, options).status.message.find("host_cache_bytes must be") != std::string::npos);
  options.host_cache_bytes = 1 << 20;
  options.pipeline = "127.0.0.1:1";
  CHECK(inspect(source, options).status.code == StatusCode::unsupported);
  options.pipeline.clear();
  options.prefix_cache = false;
  const auto no_cache = inspect(source, options);
  REQUIRE(no_cache.is_ok());
  CHECK_EQ(no_cache->plan.host_cache_bytes, 0);
}

}  // namespace pagoda::engine
