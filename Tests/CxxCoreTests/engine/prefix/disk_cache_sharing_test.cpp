// Prefixes on disk in a folder that several processes share, and in one left behind by a killed process.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/fake_harness.h"
#include "engine/prefix/disk_cache_kit.h"
#include "io/file_writer.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;

test::Shape kill_shape() { return {.num_blocks = 200, .max_checkpoints = 40}; }

std::shared_ptr<DiskStore> open_fake_store(const std::string& folder, int64_t max_bytes = 200000) {
  return std::make_shared<DiskStore>(DiskStoreConfig{.folder = folder,
                                                     .max_bytes = max_bytes,
                                                     .fingerprint = "fake",
                                                     .block_size = 16,
                                                     .block_bytes = 16 * sizeof(int32_t),
                                                     .state_bytes = sizeof(test::FakeModel::State),
                                                     .retry_seconds = 0});
}

// Queues a file of zeros for `tokens`; false if the store does not need it.
bool write_zeros(DiskStore& store, const Tokens& tokens) {
  auto head = store.plan("", tokens);
  if (!head) return false;
  std::vector<std::byte> blocks(static_cast<size_t>(head->num_blocks()) * head->block_bytes), state(head->state_bytes);
  store.write(std::make_shared<PrefixStore::Content>(
      PrefixStore::Content{std::move(*head), tokens, std::move(blocks), std::move(state)}));
  store.flush();
  return true;
}

void answer(FakeHarness& harness, uint64_t id, const Tokens& prompt, Recorder& recorder) {
  CHECK_OK(harness.add(make_request(prompt), id, recorder));
  while (harness.core->has_work()) harness.core->step();
}

// A separate process that sends requests and writes until it is killed.
[[noreturn]] void write_for_ever(const std::string& folder, uint64_t seed) {
  std::mt19937_64 rng(seed);
  FakeHarness harness(kill_shape(), {}, open_fake_store(folder));
  for (uint64_t id = 1;; ++id) {
    Recorder recorder;
    answer(harness, id, random_tokens(rng() % 12, 200 + static_cast<int>(rng() % 500)), recorder);
  }
}

}  // namespace

PAGODA_TEST(disk_cache_a_file_that_another_process_is_writing_is_left_to_it) {
  const std::string folder = test::temporary_dir();
  const auto store = open_fake_store(folder);
  const Tokens tokens = random_tokens(50, 100), others = random_tokens(51, 100);
  const auto head = store->plan("", tokens);
  REQUIRE(head.has_value());
  const std::string path = folder + "/" + head->key.text() + ".pagoda-prefix";
  {
    auto other = io::FileWriter::create(path);
    REQUIRE_OK(other);
    CHECK(write_zeros(*store, tokens));
    CHECK(store->stats().is_on && store->stats().num_writes == 0 && store->stats().num_failures == 0);
    CHECK(fs::exists(path + ".tmp"));
    CHECK(open_fake_store(folder)->stats().is_on);
    CHECK(fs::exists(path + ".tmp"));  // nor did a store opened in the meantime remove it as a leftover
    CHECK_OK((*other)->commit());
  }
  CHECK(fs::exists(path));
  CHECK(write_zeros(*store, others));
  CHECK(store->stats().is_on && store->stats().num_writes == 1);
}

PAGODA_TEST(disk_cache_the_limit_is_that_of_the_folder) {
  const std::string folder = test::temporary_dir();
  constexpr int64_t kMaxBytes = 20000;
  const auto first = open_fake_store(folder, kMaxBytes), second = open_fake_store(folder, kMaxBytes);
  for (uint64_t i = 0; i < 40; ++i) {
    CHECK(write_zeros(i % 2 ? *first : *second, random_tokens(100 + i, 150)));
    CHECK(bytes_in(folder) <= kMaxBytes);
  }
  CHECK_EQ(first->stats().bytes, bytes_in(folder));
  CHECK_EQ(first->stats().num_files, static_cast<int64_t>(files_in(folder).size()));
  CHECK(first->stats().num_writes == 20 && second->stats().num_writes == 20);
  // A file that the other removed is a miss, not damage; a file that it wrote is found.
  const Tokens mine = random_tokens(100 + 39, 150), others = random_tokens(300, 150);
  Tokens longer = mine;
  longer.push_back(1);
  const auto next = first->find_next("", longer, 0, 0);
  REQUIRE(next.has_value());
  for (const fs::path& file : files_in(folder)) fs::remove(file);
  CHECK(first->read(*next, "", longer).status.code == StatusCode::not_found);
  CHECK_EQ(first->stats().num_bad_files, 0);
  CHECK(!first->find_next("", longer, 0, 0));
  CHECK(write_zeros(*second, others));
  CHECK(write_zeros(*first, random_tokens(200, 150)));
  longer = others;
  longer.push_back(1);
  CHECK(first->find_next("", longer, 0, 0).has_value());
}

// A router may send each turn of a chat to another process: files written by one are found by the next without a
// restart.
PAGODA_TEST(disk_cache_finds_what_another_process_has_written_since) {
  const std::string folder = test::temporary_dir();
  const auto reader = open_fake_store(folder), writer = open_fake_store(folder);
  for (uint64_t i = 0; i < 20; ++i) {
    const Tokens tokens = random_tokens(400 + i, 100);
    Tokens longer = tokens;
    longer.push_back(1);
    CHECK(!reader->find_next("", longer, 0, 0));
    CHECK(write_zeros(*writer, tokens));
    // A listing is not immediately followed by another, so that a busy folder costs little.
    std::optional<DiskStore::Next> next;
    for (int tries = 0; tries < 600'000 && !next; ++tries) {
      next = reader->find_next("", longer, 0, 0);
      if (!next) usleep(1000);
    }
    REQUIRE(next.has_value());
    CHECK_OK(reader->read(*next, "", longer));
  }
  CHECK(reader->stats().num_reads == 20 && reader->stats().num_writes == 0 && reader->stats().num_bad_files == 0);
}

PAGODA_TEST(disk_cache_writing_resumes_when_there_is_space_again) {
  const std::string folder = test::temporary_dir();
  const auto store = open_fake_store(folder);
  rlimit old;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK(write_zeros(*store, random_tokens(60, 100)));
  const DiskStats full = store->stats();
  CHECK(write_zeros(*store, random_tokens(61, 100)));  // tried again, without success
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  CHECK(!full.is_on && full.num_failures == 1 && full.num_writes == 0);
  test::note(full.off_reason);
  CHECK(!full.off_reason.empty() && full.off_reason.find(folder) == std::string::npos);
  CHECK_EQ(store->stats().num_failures, 2);
  CHECK(write_zeros(*store, random_tokens(62, 100)));
  CHECK(store->stats().is_on && store->stats().off_reason.empty() && store->stats().num_writes == 1);
  CHECK_EQ(files_in(folder).size(), size_t{1});
}

// Both write the same prompts and others, and evict each other's files all the time.
PAGODA_TEST(disk_cache_two_processes_share_a_folder) {
  const std::string folder = test::temporary_dir();
  constexpr int64_t kMaxBytes = 60000;
  const uint64_t first_seed = test::seed(70);
  std::vector<pid_t> children;
  for (uint64_t c = 0; c < 2; ++c) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::mt19937_64 rng(first_seed + c);
      const auto store = open_fake_store(folder, kMaxBytes);
      FakeHarness harness(kill_shape(), {}, store), off(kill_shape());
      bool is_right = true;
      for (uint64_t id = 1; id <= 60; ++id) {
        const Tokens prompt = random_tokens(rng() % 12, 100 + static_cast<int>(rng() % 300));
        Recorder seen, expected;
        answer(harness, id, prompt, seen);
        answer(off, id, prompt, expected);
        is_right = is_right && seen.tokens == expected.tokens;
      }
      store->flush();
      const DiskStats stats = store->stats();
      const bool is_good = is_right && stats.is_on && stats.num_failures == 0 && stats.num_bad_files == 0;
      _exit(is_good && stats.num_writes > 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  CHECK(bytes_in(folder) <= kMaxBytes);
  for (const fs::path& file : files_in(folder)) CHECK(file.extension() == ".pagoda-prefix");
}

// PAGODA_KILL_ROUNDS runs more than the default 30 rounds, and prints a line about them.
PAGODA_TEST(disk_cache_a_killed_writer_leaves_nothing_that_changes_a_token) {
  const char* asked = std::getenv("PAGODA_KILL_ROUNDS");
  const int num_rounds = asked ? std::atoi(asked) : 30;
  const std::string folder = test::temporary_dir();
  std::mt19937_64 rng(test::seed(30));
  FakeHarness off(kill_shape());
  int64_t num_reads = 0, num_rests = 0, num_kills = 0;
  uint64_t id = 0;
  // Where processes are slow, the kills come later and later, until one came in the middle of a file.
  const auto is_enough = [&](int round) { return round >= num_rounds && num_reads > 0 && num_rests > 0; };
  for (int round = 0; !is_enough(round) && round < 20 * num_rounds && !test::failed(); ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) write_for_ever(folder, rng());
    usleep(static_cast<useconds_t>(1000 + rng() % 25000) * static_cast<useconds_t>(1 + round / num_rounds));
    kill(child, SIGKILL);
    ++num_kills;
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    for (const fs::path& file : files_in(folder)) num_rests += file.extension() == ".tmp";
    FakeHarness harness(kill_shape(), {}, open_fake_store(folder));
    for (int i = 0; i < 4; ++i) {
      const Tokens prompt = random_tokens(rng() % 12, 200 + static_cast<int>(rng() % 500));
      Recorder seen, expected;
      Request request = make_request(prompt);
      answer(harness, ++id, prompt, seen);
      request.use_cache = false;
      CHECK_OK(off.add(request, id, expected));
      off.run();
      CHECK(seen.tokens == expected.tokens && seen.logprob_bits == expected.logprob_bits);
    }
    num_reads += harness.core->stats().disk.num_reads;
    rng.discard(1);
  }
  const std::string summary = std::to_string(num_kills) + " kills, " + std::to_string(num_rests) +
                              " in the middle of a file, " + std::to_string(num_reads) + " files read afterwards";
  test::note(summary);
  CHECK(num_reads > 0 && num_rests > 0);
  if (asked) std::fprintf(stderr, "%s\n", summary.c_str());
}

}  // namespace pagoda::engine
