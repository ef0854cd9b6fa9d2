// Prefixes on disk: a restarted engine finds them; a damaged file costs time and never changes a token.
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/model_harness.h"
#include "engine/prefix/disk_cache_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::ModelHarness;
using test::Recorder;

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

// One engine from start to end: answers `prompts` one after another.
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
  options.state_dtype = "bfloat16";
  check_miss("qwen3_5", options);
  options = options_for(folder);
  options.block_size = 8;
  check_miss("qwen3_5", options);
  options = options_for(folder);
  options.quantize = "8bit";
  check_miss("qwen3_5", options);
  CHECK(run(fixture("qwen3_5"), options_for(folder), prompts).stats.disk.num_reads > 0);
}

// Every kind of damage, at offsets spread over each file.
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
      const uint64_t size = fs::file_size(file), offset = round < 20 ? rng() % 400 : rng() % size;
      if (round % 4 == 0) fs::resize_file(file, offset);
      if (round % 4 == 1) fs::resize_file(file, size + 1);
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      if (round % 4 == 2) stream.seekp(static_cast<std::streamoff>(offset)).put('\x5a');
      if (round % 4 == 3) {
        char byte = 0;
        stream.seekg(static_cast<std::streamoff>(offset)).get(byte);
        stream.seekp(static_cast<std::streamoff>(offset)).put(static_cast<char>(byte ^ (1 << rng() % 8)));
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
  const Run large = run(fixture("qwen3_5"), options_for(folder), prompts);
  const int64_t all = bytes_in(folder);
  CHECK_EQ(large.stats.disk.bytes, all);
  EngineOptions options = options_for(folder);
  options.prefix_cache_disk_bytes = all / 2;
  const Run half = run(fixture("qwen3_5"), options, {prompts[5], prompts[0]});
  compare(half, run(fixture("qwen3_5"), options_for(""), {prompts[5], prompts[0]}));
  CHECK(bytes_in(folder) <= all / 2);
  CHECK(half.stats.disk.num_evictions > 0);
  CHECK(half.seen[0]->usage.cached_tokens > 0);    // the newest was kept
  CHECK_EQ(half.seen[1]->usage.cached_tokens, 0);  // the oldest was not
  options.prefix_cache_disk_bytes = 10;
  run(fixture("qwen3_5"), options, {prompts[0]});
  CHECK_EQ(bytes_in(folder), 0);
}

// A limit on the file size simulates a full disk: the write fails in the middle.
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

}  // namespace pagoda::engine
