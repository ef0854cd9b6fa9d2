// Prefixes on disk: an engine that starts again finds them; whatever is wrong with a file costs time and never a token.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/fake_harness.h"
#include "engine/model_harness.h"
#include "io/file_writer.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;
using test::ModelHarness;
using test::Recorder;
using Tokens = std::vector<int32_t>;

Tokens random_tokens(uint64_t seed, int count) {
  std::mt19937_64 rng(seed);
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(rng() % 95));
  return tokens;
}

Request make_request(const Tokens& prompt) {
  Request request;
  request.prompt_ids = prompt;
  request.sampling.max_tokens = 8;
  request.sampling.num_top_logprobs = 2;
  request.sampling.ignore_eos = true;
  return request;
}

EngineOptions options_for(const std::string& folder) {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  options.max_model_len = 512;
  options.max_num_batched_tokens = 64;
  options.prefix_cache = !folder.empty();
  options.prefix_cache_dir = folder;
  return options;
}

std::string fixture(const char* name) { return test::fixtures_dir() + "/model/" + name; }

// One engine from start to end: answers to `prompts`, one after the other.
struct Run {
  std::vector<std::unique_ptr<Recorder>> seen;
  EngineStats stats;
};

Run run(const std::string& model, const EngineOptions& options, const std::vector<Tokens>& prompts) {
  Run result;
  auto harness = ModelHarness::open(model, options);
  if (!harness) return result;
  for (const Tokens& prompt : prompts) {
    CHECK(harness->add(make_request(prompt), result.seen.size() + 1,
                       *result.seen.emplace_back(std::make_unique<Recorder>())));
    while (harness->core->has_work()) harness->core->step();
  }
  if (harness->loaded.core.disk) harness->loaded.core.disk->flush();
  result.stats = harness->core->stats();
  result.stats.disk = harness->loaded.core.disk ? harness->loaded.core.disk->stats() : DiskStats{};
  harness->check_all_free();
  return result;
}

void compare(const Run& seen, const Run& expected) {
  REQUIRE(seen.seen.size() == expected.seen.size());
  for (size_t i = 0; i < seen.seen.size(); ++i) {
    CHECK(seen.seen[i]->tokens == expected.seen[i]->tokens && seen.seen[i]->tokens.size() == 8);
    CHECK(seen.seen[i]->logprob_bits == expected.seen[i]->logprob_bits);
  }
}

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder)) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

int64_t bytes_in(const std::string& folder) {
  int64_t bytes = 0;
  for (const fs::path& file : files_in(folder)) bytes += static_cast<int64_t>(fs::file_size(file));
  return bytes;
}

}  // namespace

PAGODA_TEST(disk_cache_an_engine_that_starts_again_finds_its_prompts) {
  for (const char* name : {"qwen3_5", "qwen3"}) {
    const std::string folder = test::temporary_dir() + "/made/by/the/engine";
    const Tokens first = random_tokens(1, 300), other = random_tokens(2, 40);
    const Run off = run(fixture(name), options_for(""), {first, other});
    const Run cold = run(fixture(name), options_for(folder), {first, other});
    compare(cold, off);
    CHECK_EQ(cold.seen[0]->usage.cached_tokens, 0);
    CHECK(cold.stats.disk.is_on && cold.stats.disk.num_writes >= 2);
    CHECK_EQ(cold.stats.disk.bytes, bytes_in(folder));
    CHECK_EQ(cold.stats.disk.num_files, static_cast<int64_t>(files_in(folder).size()));
    for (const fs::path& file : files_in(folder)) {
      struct stat info;
      CHECK(stat(file.c_str(), &info) == 0 && (info.st_mode & 0777) == 0600);
    }

    Tokens next = first;  // the turn after the first
    next.insert(next.end(), off.seen[0]->tokens.begin(), off.seen[0]->tokens.end());
    next.insert(next.end(), other.begin(), other.end());
    const Run warm_off = run(fixture(name), options_for(""), {next, first, other});
    const Run warm = run(fixture(name), options_for(folder), {next, first, other});
    compare(warm, warm_off);
    CHECK_EQ(warm.seen[0]->usage.cached_tokens, 307);
    CHECK(warm.seen[1]->usage.cached_tokens >= 256);
    CHECK(warm.stats.disk.num_reads > 0);
    CHECK_EQ(warm.stats.disk.num_bad_files, 0);
  }
}

PAGODA_TEST(disk_cache_another_model_or_setting_finds_nothing) {
  const std::string folder = test::temporary_dir();
  const std::vector<Tokens> prompts{random_tokens(3, 120)};
  run(fixture("qwen3_5"), options_for(folder), prompts);
  const auto check_miss = [&](const char* name, EngineOptions options) {
    const Run seen = run(fixture(name), options, prompts);
    CHECK_EQ(seen.stats.disk.num_reads, 0);
    CHECK_EQ(seen.seen[0]->usage.cached_tokens, 0);
    options.prefix_cache = false;
    compare(seen, run(fixture(name), options, prompts));
  };
  check_miss("qwen3_5_real_heads", options_for(folder));
  EngineOptions options = options_for(folder);
  options.kv_dtype = "int8";
  check_miss("qwen3_5", options);
  options = options_for(folder);
  options.block_size = 8;
  check_miss("qwen3_5", options);
  options = options_for(folder);
  options.quantize = "8bit";
  check_miss("qwen3_5", options);
  CHECK(run(fixture("qwen3_5"), options_for(folder), prompts).stats.disk.num_reads > 0);
}

// Every kind of damage, at places spread over each file.
PAGODA_TEST(disk_cache_a_damaged_file_is_a_miss_and_goes) {
  const std::string original = test::temporary_dir();
  const std::vector<Tokens> prompts{random_tokens(4, 150)};
  const Run off = run(fixture("qwen3_5"), options_for(""), prompts);
  run(fixture("qwen3_5"), options_for(original), prompts);
  std::mt19937_64 rng(test::seed(5));
  int num_found_bad = 0;
  for (int round = 0; round < 40 && !test::failed(); ++round) {
    const std::string folder = test::temporary_dir();
    fs::copy(original, folder, fs::copy_options::recursive);
    for (const fs::path& file : files_in(folder)) {
      const uint64_t size = fs::file_size(file), place = round < 20 ? rng() % 400 : rng() % size;
      if (round % 4 == 0) fs::resize_file(file, place);
      if (round % 4 == 1) fs::resize_file(file, size + 1);
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      if (round % 4 == 2) stream.seekp(static_cast<std::streamoff>(place)).put('\x5a');
      if (round % 4 == 3) {
        char byte = 0;
        stream.seekg(static_cast<std::streamoff>(place)).get(byte);
        stream.seekp(static_cast<std::streamoff>(place)).put(static_cast<char>(byte ^ (1 << rng() % 8)));
      }
    }
    const Run seen = run(fixture("qwen3_5"), options_for(folder), prompts);
    compare(seen, off);
    num_found_bad += seen.stats.disk.num_bad_files > 0;
    if (test::failed()) test::note("round " + std::to_string(round));
  }
  test::note(std::to_string(num_found_bad) + " of 40 rounds found a bad file");
  CHECK(num_found_bad > 30);
}

PAGODA_TEST(disk_cache_files_of_others_and_odd_names_are_left_alone_or_removed) {
  const std::string folder = test::temporary_dir();
  std::ofstream(folder + "/notes.txt") << "mine";
  std::ofstream(folder + "/0123.pagoda-prefix") << "pagoda prefix 0\n";
  std::ofstream(folder + "/4567.pagoda-prefix.tmp") << "half";
  fs::create_directory(folder + "/dir.pagoda-prefix");
  const std::vector<Tokens> prompts{random_tokens(6, 60)};
  const Run seen = run(fixture("qwen3_5"), options_for(folder), prompts);
  CHECK(fs::exists(folder + "/notes.txt"));
  CHECK(!fs::exists(folder + "/0123.pagoda-prefix") && !fs::exists(folder + "/4567.pagoda-prefix.tmp"));
  CHECK(seen.stats.disk.num_writes > 0);

  const std::string no_folder = folder + "/notes.txt";
  const Run off = run(fixture("qwen3_5"), options_for(no_folder), prompts);
  compare(off, seen);
  CHECK(!off.stats.disk.is_on && off.stats.disk.off_reason.find("not a folder") != std::string::npos);
}

PAGODA_TEST(disk_cache_stays_below_its_limit_from_the_start) {
  const std::string folder = test::temporary_dir();
  std::vector<Tokens> prompts;
  for (uint64_t i = 0; i < 6; ++i) prompts.push_back(random_tokens(10 + i, 80));
  const Run roomy = run(fixture("qwen3_5"), options_for(folder), prompts);
  const int64_t all = bytes_in(folder);
  CHECK_EQ(roomy.stats.disk.bytes, all);
  EngineOptions options = options_for(folder);
  options.prefix_cache_disk_bytes = all / 2;
  const Run half = run(fixture("qwen3_5"), options, {prompts[5], prompts[0]});
  compare(half, run(fixture("qwen3_5"), options_for(""), {prompts[5], prompts[0]}));
  CHECK(bytes_in(folder) <= all / 2);
  CHECK(half.stats.disk.num_evictions > 0);
  CHECK(half.seen[0]->usage.cached_tokens > 0);    // the newest stayed
  CHECK_EQ(half.seen[1]->usage.cached_tokens, 0);  // the oldest did not
  options.prefix_cache_disk_bytes = 10;
  run(fixture("qwen3_5"), options, {prompts[0]});
  CHECK_EQ(bytes_in(folder), 0);
}

// A limit on the size of files stands for a full disk: the write fails in the middle.
PAGODA_TEST(disk_cache_a_full_disk_ends_the_writing_and_no_request) {
  const std::string folder = test::temporary_dir();
  const std::vector<Tokens> prompts{random_tokens(20, 100), random_tokens(21, 100)};
  rlimit old;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, old.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Run seen = run(fixture("qwen3_5"), options_for(folder), prompts);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);
  compare(seen, run(fixture("qwen3_5"), options_for(""), prompts));
  CHECK(!seen.stats.disk.is_on);
  CHECK(!seen.stats.disk.off_reason.empty());
  CHECK_EQ(seen.stats.disk.num_writes, 0);
  CHECK(files_in(folder).empty());
}

namespace {

using test::FakeHarness;

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

// Queues a file of zeros for `tokens`; false when the store wants none.
bool write_zeros(DiskStore& store, const Tokens& tokens) {
  auto head = store.plan("", tokens);
  if (!head) return false;
  std::vector<std::byte> blocks(static_cast<size_t>(head->num_blocks()) * head->block_bytes), state(head->state_bytes);
  store.write(std::move(*head), tokens, std::move(blocks), std::move(state));
  store.flush();
  return true;
}

void answer(FakeHarness& harness, uint64_t id, const Tokens& prompt, Recorder& recorder) {
  CHECK_OK(harness.add(make_request(prompt), id, recorder));
  while (harness.core->has_work()) harness.core->step();
}

// A process of its own that asks and writes until it is killed.
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
    CHECK(fs::exists(path + ".tmp"));  // nor did a store that was opened meanwhile take it for a rest
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
  // What the other removed is a miss, and no damage; what it wrote is found.
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

// A router may send each turn of a chat to another process: what one wrote is found by the next without a restart.
PAGODA_TEST(disk_cache_finds_what_another_process_has_written_since) {
  const std::string folder = test::temporary_dir();
  const auto reader = open_fake_store(folder), writer = open_fake_store(folder);
  for (uint64_t i = 0; i < 20; ++i) {
    const Tokens tokens = random_tokens(400 + i, 100);
    Tokens longer = tokens;
    longer.push_back(1);
    CHECK(!reader->find_next("", longer, 0, 0));
    CHECK(write_zeros(*writer, tokens));
    // A listing is not followed by another at once, so that a busy folder costs little.
    std::optional<DiskStore::Next> next;
    for (int tries = 0; tries < 2000 && !next; ++tries) {
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
  CHECK(write_zeros(*store, random_tokens(61, 100)));  // tried again, in vain
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

// Both write the same prompts and others, and make room for each other all the time.
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

// PAGODA_KILL_ROUNDS asks for more than the regular 30, and for a line about them.
PAGODA_TEST(disk_cache_a_killed_writer_leaves_nothing_that_changes_a_token) {
  const char* asked = std::getenv("PAGODA_KILL_ROUNDS");
  const int num_rounds = asked ? std::atoi(asked) : 30;
  const std::string folder = test::temporary_dir();
  std::mt19937_64 rng(test::seed(30));
  FakeHarness off(kill_shape());
  int64_t num_reads = 0, num_rests = 0;
  uint64_t id = 0;
  for (int round = 0; round < num_rounds && !test::failed(); ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) write_for_ever(folder, rng());
    usleep(static_cast<useconds_t>(1000 + rng() % 25000));
    kill(child, SIGKILL);
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
  const std::string summary = std::to_string(num_rounds) + " kills, " + std::to_string(num_rests) +
                              " in the middle of a file, " + std::to_string(num_reads) + " files read afterwards";
  test::note(summary);
  CHECK(num_reads > 0 && num_rests > 0);
  if (asked) std::fprintf(stderr, "%s\n", summary.c_str());
}

}  // namespace pagoda::engine
