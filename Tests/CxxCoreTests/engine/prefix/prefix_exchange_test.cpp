// Prefix files from another engine: they are adopted, answers are bit-identical, and a bad file costs only
// time.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/model_harness.h"
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

// An engine with its own prefix folder.
struct Peer {
  explicit Peer(const std::string& folder) : folder(folder) {
    EngineOptions options;
    options.device = "cpu";
    options.num_threads = 1;
    options.max_model_len = 512;
    options.max_num_batched_tokens = 64;
    options.prefix_cache_dir = folder;
    options.identify_content = true;
    harness = ModelHarness::open(test::fixtures_dir() + "/model/qwen3_5", options);
  }

  void answer(const Tokens& prompt, Recorder& seen) {
    Request request;
    request.prompt_ids = prompt;
    request.sampling.max_tokens = 8;
    request.sampling.num_top_logprobs = 2;
    request.sampling.ignore_eos = true;
    CHECK(harness->add(request, ++num_requests, seen));
    while (harness->core->has_work()) harness->core->step();
    store().flush();
  }

  DiskStore& store() { return *harness->loaded.core.disk; }

  std::string folder;
  std::unique_ptr<ModelHarness> harness;
  uint64_t num_requests = 0;
};

// Copies a file from one peer to another like a transfer, with byte `flipped` from the end changed; 0 changes none.
Status send(Peer& from, const PrefixFileInfo& file, Peer& to, int64_t flipped = 0) {
  const std::string path = to.folder + "/received";
  fs::copy_file(from.folder + "/" + file.name, path, fs::copy_options::overwrite_existing);
  if (flipped > 0) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-flipped, std::ios::end);
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(-flipped, std::ios::end);
    stream.put(byte);
  }
  const Status status = to.harness->core->add_prefix_file(path, file.name);
  CHECK(!fs::exists(path));
  return status;
}

}  // namespace

PAGODA_TEST(prefix_exchange_a_peer_continues_from_the_files_of_another) {
  const Tokens prompt = random_tokens(1, 300);
  Peer first(test::temporary_dir()), second(test::temporary_dir());
  REQUIRE(first.harness && second.harness);
  Recorder expected, seen;
  CHECK(first.harness->core->prefix_files(prompt, "").files.empty());
  first.answer(prompt, expected);
  const auto files = first.harness->core->prefix_files(prompt, "").files;
  REQUIRE(files.size() >= 2);
  for (size_t i = 0; i < files.size(); ++i) {
    CHECK(files[i].parent_position == (i == 0 ? 0 : files[i - 1].position) && files[i].position <= 300);
    CHECK(files[i].size_bytes == static_cast<int64_t>(fs::file_size(first.folder + "/" + files[i].name)));
    CHECK_OK(send(first, files[i], second));
  }
  CHECK(first.harness->core->prefix_files(prompt, "another tenant").files.empty());
  CHECK(second.harness->core->prefix_files(prompt, "").files.size() == files.size());
  second.answer(prompt, seen);
  CHECK(seen.tokens == expected.tokens && seen.logprob_bits == expected.logprob_bits);
  CHECK(second.harness->core->stats().cache.num_cached_tokens >= files.back().parent_position);
  CHECK(second.store().stats().num_reads > 0);
}

PAGODA_TEST(prefix_exchange_a_changed_file_is_refused_or_removed_and_never_used) {
  const Tokens prompt = random_tokens(2, 200);
  Peer first(test::temporary_dir()), second(test::temporary_dir());
  REQUIRE(first.harness && second.harness);
  Recorder expected, seen;
  first.answer(prompt, expected);
  const auto files = first.harness->core->prefix_files(prompt, "").files;
  REQUIRE(!files.empty());
  const int64_t size = files[0].size_bytes;
  CHECK(send(first, files[0], second, size).code == StatusCode::bad_file);        // the first byte: not a prefix file
  CHECK(send(first, files[0], second, size - 100).code == StatusCode::bad_file);  // the head
  PrefixFileInfo renamed = files[0];
  renamed.name[0] = renamed.name[0] == '0' ? '1' : '0';
  fs::copy_file(first.folder + "/" + files[0].name, first.folder + "/" + renamed.name);
  CHECK(send(first, renamed, second).code == StatusCode::bad_file);
  renamed.name = "../" + files[0].name;
  CHECK(second.harness->core->add_prefix_file(second.folder + "/none", renamed.name).code ==
        StatusCode::invalid_argument);
  CHECK_OK(send(first, files[0], second, 1));  // the state, which is checked when it is read
  second.answer(prompt, seen);
  CHECK(seen.tokens == expected.tokens && seen.logprob_bits == expected.logprob_bits);
  CHECK(second.store().stats().num_bad_files >= (files.size() == 1 ? 1 : 0));
}

PAGODA_TEST(prefix_exchange_distinguishes_models_by_content_and_not_by_times) {
  const auto identity = [](const std::string& folder) {
    EngineOptions options;
    options.device = "cpu";
    options.num_threads = 1;
    options.max_model_len = 128;
    options.prefix_cache_dir = test::temporary_dir();
    options.identify_content = true;
    auto harness = ModelHarness::open(folder, options);
    return harness ? harness->loaded.core.disk->layout().fingerprint : std::string();
  };
  const std::string source = test::fixtures_dir() + "/model/qwen3_5", copy = test::temporary_dir() + "/copy";
  fs::copy(source, copy, fs::copy_options::recursive);
  const std::string expected = identity(source);
  CHECK(!expected.empty());
  for (const auto& file : fs::directory_iterator(copy))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(30));
  CHECK(identity(copy) == expected);
}

}  // namespace pagoda::engine
