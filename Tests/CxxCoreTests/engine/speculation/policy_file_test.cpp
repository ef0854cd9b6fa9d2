// What the policy learned, kept in a file for the next engine: drafts in its first steps, the same bits with any file,
// and files that are damaged, foreign or newer are replaced.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine_thread.h"
#include "engine/load/policy_file.h"
#include "engine/model_harness.h"
#include "engine/recorder.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

namespace fs = std::filesystem;
using test::ModelHarness;
using test::Recorder;

// A policy for which every draft of a lookup held, at almost no cost; or none, at a high cost.
speculate::Policy taught(bool drafts_pay) {
  speculate::Policy policy;
  speculate::Acceptance history;
  for (int step = 0; step < 300; ++step) {
    speculate::Offer offer{
        .source = speculate::Source::lookup, .match_length = 8, .num_drafts = 7, .history = &history};
    policy.admit({&offer, 1}, 1);
    const int32_t held = drafts_pay ? offer.num_admitted : 0;
    if (offer.num_admitted > 0) policy.note_drafts(offer, held, history);
    policy.note_step({.num_sequences = 1,
                      .num_rows = 1 + offer.num_admitted,
                      .num_tokens = 1 + held,
                      .seconds = 1e-3 * (1 + (drafts_pay ? 0.01 : 0.9) * offer.num_admitted)});
  }
  return policy;
}

EngineOptions small_options() {
  EngineOptions options;
  options.num_threads = 1;
  options.max_model_len = 512;
  options.max_num_seqs = 1;
  options.speculation = "lookup";
  return options;
}

Request request_for(const LoadedModel& loaded, int32_t max_tokens) {
  Request request;
  CHECK_OK(loaded.tokenizer->encode("one two three four five six one two three four five six one two three",
                                    /*parse_special=*/false, request.prompt_ids));
  request.sampling.max_tokens = max_tokens;
  request.sampling.ignore_eos = true;
  request.sampling.num_top_logprobs = 1;
  return request;
}

struct Outcome {
  std::vector<int32_t> tokens;
  std::vector<uint32_t> logprob_bits;
  int64_t num_drafted_at_once = 0;  // in the first step after the prompt
};

Outcome answer(std::shared_ptr<const speculate::Policy> policy, const EngineOptions& options) {
  auto harness = ModelHarness::open(test::mini_model_dir(), options);
  Outcome outcome;
  if (!harness) return outcome;
  harness->loaded.core.policy = std::move(policy);
  harness->core = std::make_unique<EngineCore>(*harness->loaded.model, harness->loaded.core);
  Recorder recorder;
  CHECK(harness->add(request_for(harness->loaded, 40), 1, recorder));
  while (recorder.tokens.empty()) harness->core->step();
  harness->core->step();
  outcome.num_drafted_at_once = harness->core->stats().speculation.num_drafted_tokens;
  while (harness->core->has_work()) harness->core->step();
  outcome.tokens = recorder.tokens;
  outcome.logprob_bits = recorder.logprob_bits;
  return outcome;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A fresh cache folder for the engines of a test.
class Caches {
 public:
  explicit Caches(const char* name) : folder_(fs::path(test::temporary_dir()) / name) {
    if (const char* set = std::getenv("XDG_CACHE_HOME")) before_ = set;
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~Caches() {
    if (before_.empty()) unsetenv("XDG_CACHE_HOME");
    else setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_ / "pagoda" / "drafts", none)) found.push_back(entry.path());
    return found;
  }

 private:
  fs::path folder_;
  std::string before_;
};

// Starts an engine, answers if asked to, and ends it. Returns whether it began with a policy from a file.
bool run_engine(int32_t max_tokens) {
  auto loaded = load({test::mini_model_dir(), {}}, small_options(), nullptr);
  CHECK_OK(loaded);
  if (!loaded.is_ok()) return false;
  const Request request = request_for(*loaded, max_tokens);
  auto engine = EngineThread::start(std::move(*loaded));
  CHECK_OK(engine);
  if (!engine.is_ok()) return false;
  if (max_tokens > 0) {
    Recorder recorder;
    CHECK_OK((*engine)->submit(request, &Recorder::on_event, &recorder).status);
    recorder.wait();
  }
  (*engine)->shut_down();
  return (*engine)->core_config().policy != nullptr;
}

}  // namespace

PAGODA_TEST(policy_file_gives_the_first_step_drafts_and_changes_no_bit) {
  const std::string folder = test::temporary_dir() + "/policies";
  EngineOptions without = small_options();
  without.speculation = "off";
  const Outcome off = answer(nullptr, without), cold = answer(nullptr, small_options());
  CHECK_EQ(off.tokens.size(), size_t{40});
  CHECK_EQ(cold.num_drafted_at_once, 0);
  for (const bool drafts_pay : {true, false}) {
    PolicyFile(folder, "a model").write(taught(drafts_pay));
    const auto policy = PolicyFile(folder, "a model").read();
    REQUIRE(policy != nullptr);
    const Outcome warm = answer(policy, small_options());
    CHECK_EQ(warm.num_drafted_at_once > 0, drafts_pay);
    for (const Outcome* with : {&cold, &warm}) {
      CHECK(with->tokens == off.tokens);
      CHECK(with->logprob_bits == off.logprob_bits);
    }
  }
}

PAGODA_TEST(policy_file_is_written_at_the_end_of_an_engine_and_read_by_the_next) {
  const Caches caches("policy_engines");
  CHECK(!run_engine(0));
  CHECK(caches.files().empty());  // nothing was learned
  CHECK(!run_engine(40));
  REQUIRE(caches.files().size() == 1);
  const fs::path path = caches.files()[0];
  const std::string first = bytes_of(path);
  CHECK(run_engine(0));
  CHECK(bytes_of(path) == first);
  CHECK(run_engine(40));
  CHECK(bytes_of(path) != first && caches.files().size() == 1);
  for (const std::string& wrong : {std::string(), first.substr(0, first.size() / 2),
                                   "pagoda drafts 2\n" + first.substr(16), std::string(100'000, 'x')}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << wrong;
    CHECK(!run_engine(40));
    CHECK_EQ(bytes_of(path).size(), first.size());
    CHECK(run_engine(0));
  }
}

PAGODA_TEST(policy_file_belongs_to_one_model_and_device) {
  const std::string folder = test::temporary_dir() + "/identities";
  PolicyFile(folder, "a model on a device").write(taught(true));
  CHECK(PolicyFile(folder, "a model on a device").read() != nullptr);
  CHECK(PolicyFile(folder, "a model on another device").read() == nullptr);
  PolicyFile nowhere;
  CHECK(nowhere.read() == nullptr && !nowhere.is_due(taught(true)));
  CHECK(PolicyFile("", "a model on a device").read() == nullptr);
}

// Many models: the folder stays small, and the newest remain.
PAGODA_TEST(policy_file_keeps_the_folder_small) {
  const std::string folder = test::temporary_dir() + "/many_policies";
  const speculate::Policy policy = taught(true);
  const size_t size = policy.memory().size(), num_files = (1 << 20) / size + 20;
  for (size_t i = 0; i < num_files; ++i) PolicyFile(folder, std::to_string(i)).write(policy);
  size_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) bytes += entry.file_size();
  CHECK(bytes > (1 << 19) && bytes <= (1 << 20) + size);
  CHECK(PolicyFile(folder, std::to_string(num_files - 1)).read() != nullptr);
}

// A folder that cannot be written: the engine works as without.
PAGODA_TEST(policy_file_in_a_folder_that_is_a_file_is_left_out) {
  const std::string folder = test::temporary_dir() + "/not_a_folder";
  std::ofstream(folder) << "x";
  PolicyFile file(folder, "a model");
  file.write(taught(true));
  CHECK(file.read() == nullptr);
  CHECK(bytes_of(folder) == "x");
}

}  // namespace pagoda::engine
