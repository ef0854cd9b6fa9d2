// Any failing allocation costs at most the request it was for: every submission gets its finished
// event, no block or slot is lost, and the engine answers as before.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/engine_thread.h"
#include "engine/fake_model.h"
#include "support/allocations.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FailingAllocation;
using test::FakeModel;
using test::UncountedAllocations;

struct Watcher {
  std::vector<int32_t> tokens;
  int num_finished = 0;
  FinishReason reason = FinishReason::none;
  StatusCode code = StatusCode::ok;

  static void on_event(void* context, const Event* event) {
    const UncountedAllocations of_the_test;
    Watcher& self = *static_cast<Watcher*>(context);
    CHECK_EQ(self.num_finished, 0);
    if (event->kind == EventKind::token) return self.tokens.push_back(event->token_id);
    ++self.num_finished;
    self.reason = event->finish_reason;
    self.code = event->status.code;
  }
};

// A model whose own allocations are counted too, or only the engine's.
class CountedModel final : public FakeModel {
 public:
  CountedModel(const CoreConfig& config, bool is_counted)
      : FakeModel(config.limits, config.limits.block_size, config.vocab_size), is_counted_(is_counted) {}
  Status forward(const model::ForwardBatch& batch) override {
    if (is_counted_) return FakeModel::forward(batch);
    const UncountedAllocations of_the_model;
    return FakeModel::forward(batch);
  }

 private:
  bool is_counted_;
};

const std::string kSchema =
    R"({"type": "object", "properties": {"x": {"type": "integer"}, "s": {"type": "string", "maxLength": 5}}, "required": ["x", "s"]})";

CoreConfig make_config(const std::shared_ptr<const text::SubwordTokenizer>& tokenizer, const std::string& folder) {
  CoreConfig config;
  config.limits = {.num_kv_blocks = 15, .num_state_slots = 3 + 6, .max_num_tokens = 40, .max_num_seqs = 3};
  config.limits.max_logits_rows = 3;
  config.limits.max_blocks_per_seq = 15;
  config.limits.max_state_saves = 6;
  config.limits.num_checkpoints = 6;
  config.limits.max_model_len = 15 * 16;
  config.vocab_size = tokenizer->vocab_size();
  config.state_slot_bytes = sizeof(FakeModel::State);
  config.num_sample_threads = 2;
  config.tokenizer = tokenizer;
  if (!folder.empty()) {
    config.host = std::make_shared<HostStore>(PrefixLayout{.fingerprint = "fake",
                                                           .block_size = 16,
                                                           .block_bytes = 16 * sizeof(int32_t),
                                                           .state_bytes = sizeof(FakeModel::State)},
                                              6000);
    config.disk = std::make_shared<DiskStore>(DiskStoreConfig{.folder = folder,
                                                              .max_bytes = 1 << 20,
                                                              .fingerprint = "fake",
                                                              .block_size = 16,
                                                              .block_bytes = 16 * sizeof(int32_t),
                                                              .state_bytes = sizeof(FakeModel::State)});
  }
  return config;
}

// Prompts with a common prefix, one with a schema, one with stop strings, one long enough for others to be
// preempted; the salts are too long for the small-string optimisation.
std::vector<Request> make_requests() {
  std::vector<Request> requests;
  for (int i = 0; i < 5; ++i) {
    Request request;
    for (int t = 0; t < 40 + 25 * i; ++t) request.prompt_ids.push_back('a' + (t < 35 ? t : t * (i + 3)) % 26);
    request.sampling.max_tokens = 30;
    request.sampling.temperature = 1;
    request.sampling.has_seed = true;
    request.sampling.seed = static_cast<uint64_t>(i);
    request.sampling.num_top_logprobs = i == 1 ? 3 : -1;
    request.sampling.ignore_eos = i != 2;
    if (i == 2) request.grammar = {GrammarKind::json_schema, kSchema};
    if (i == 3) request.sampling.stop = {"zzzz", "a stop string that is never found"};
    if (i == 3) request.sampling.repetition_penalty = 1.2f;
    request.cache_salt = i < 4 ? "a tenant with a name of some length" : "another tenant with such a name";
    requests.push_back(request);
  }
  return requests;
}

struct Outcome {
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::vector<bool> is_submitted;
};

// Submits all, cancels one midway, and steps to the end.
void play(EngineCore& core, const std::vector<Request>& requests, Outcome& outcome) {
  for (size_t i = 0; i < requests.size(); ++i) {
    outcome.is_submitted[i] = false;
    try {
      auto prepared = core.prepare(requests[i], i + 1, &Watcher::on_event, outcome.watchers[i].get());
      if (!prepared.is_ok()) continue;
      core.add(std::move(*prepared));
      outcome.is_submitted[i] = true;
    } catch (const std::bad_alloc&) {  // as EngineThread::submit does
    }
  }
  for (int step = 0; core.has_work() && step < 10000; ++step) {
    if (step == 20) core.cancel(1);
    core.step();
  }
}

Outcome make_outcome(size_t count) {
  Outcome outcome;
  outcome.is_submitted.assign(count, false);
  for (size_t i = 0; i < count; ++i) outcome.watchers.push_back(std::make_unique<Watcher>());
  return outcome;
}

void check_nothing_lost(const EngineCore& core) {
  const EngineStats stats = core.stats();
  CHECK_EQ(stats.num_free_blocks, stats.num_blocks);
  CHECK_EQ(stats.num_free_state_slots, stats.num_state_slots);
  CHECK_EQ(stats.num_running + stats.num_waiting, 0);
}

// A new engine each time, with the next allocation failing. Then the same engine answers again, without
// faults, and must answer like one that never had any.
// If the model's own allocations may fail too, a step may end for all of its rows.
int64_t try_every_allocation(const std::string& folder, bool model_may_fail, int64_t stride) {
  const auto tokenizer = test::make_awkward_tokenizer();
  const std::vector<Request> requests = make_requests();
  std::vector<std::vector<int32_t>> expected;
  for (int64_t index = -1;; index = index < 0 ? 0 : index + stride) {  // the first time nothing fails
    const CoreConfig config = make_config(tokenizer, folder.empty() ? "" : folder + "/" + std::to_string(index));
    CountedModel model(config, model_may_fail);
    TestHooks hooks;
    hooks.waits_for_copies = true;  // otherwise what is being written may delay the preemptions that are tried here
    EngineCore core(model, config, std::move(hooks));
    Outcome faulty = make_outcome(requests.size());
    bool has_failed = false;
    if (index < 0) {
      play(core, requests, faulty);
    } else {
      const FailingAllocation failing(index);
      play(core, requests, faulty);
      has_failed = FailingAllocation::has_failed();
    }
    CHECK(!core.has_work());
    int num_errors = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      const Watcher& watcher = *faulty.watchers[i];
      CHECK_EQ(watcher.num_finished, faulty.is_submitted[i] ? 1 : 0);
      num_errors += watcher.reason == FinishReason::error || !faulty.is_submitted[i];
      if (watcher.reason == FinishReason::error) CHECK(watcher.code == StatusCode::out_of_memory);
      else if (i > 0 && faulty.is_submitted[i] && index >= 0) CHECK(watcher.tokens == expected[i]);
    }
    CHECK(num_errors <= (model_may_fail ? config.limits.max_num_seqs : 1));
    check_nothing_lost(core);
    Outcome after = make_outcome(requests.size());
    play(core, requests, after);
    for (size_t i = 0; i < requests.size(); ++i) {
      if (index < 0) expected.push_back(after.watchers[i]->tokens);
      CHECK_EQ(after.watchers[i]->num_finished, 1);
      if (i > 0) CHECK(after.watchers[i]->tokens == expected[i]);
    }
    check_nothing_lost(core);
    if (index < 0) CHECK(core.stats().num_preemptions > 0);
    if (test::failed()) {
      test::note("allocation " + std::to_string(index));
      return index;
    }
    if (index >= 0 && !has_failed) return index;
  }
}

}  // namespace

PAGODA_TEST(allocation_failure_costs_at_most_the_request_it_was_for) {
  if (!test::can_replace_allocations()) return test::note("not run: this sanitizer has its own operator new");
  const int64_t count = try_every_allocation("", /*model_may_fail=*/false, /*stride=*/1);
  test::note(std::to_string(count) + " allocations tried");
  CHECK(count > 300);
}

PAGODA_TEST(allocation_failure_of_a_step_gives_back_its_save_slots) {
  if (!test::can_replace_allocations()) return test::note("not run: this sanitizer has its own operator new");
  CHECK(try_every_allocation("", /*model_may_fail=*/true, /*stride=*/3) > 300);
}

PAGODA_TEST(allocation_failure_beside_prefixes_on_disk_loses_nothing) {
  if (!test::can_replace_allocations()) return test::note("not run: this sanitizer has its own operator new");
  CHECK(try_every_allocation(test::temporary_dir(), /*model_may_fail=*/false, /*stride=*/29) > 300);
}

// Once in ten runs the engine's thread listed the folder when its allocation failed, and the program ended.
PAGODA_TEST(allocation_failure_while_a_folder_of_prefixes_is_listed_is_survived) {
  if (!test::can_replace_allocations()) return test::note("not run: this sanitizer has its own operator new");
  DiskStoreConfig config{.folder = test::temporary_dir() + "/a folder whose name needs an allocation",
                         .max_bytes = 1 << 20,
                         .fingerprint = "fake",
                         .block_size = 16,
                         .block_bytes = 64,
                         .state_bytes = 64};
  std::filesystem::create_directories(config.folder);
  for (const char* name : {"a file with a long name that is not a prefix", "another file with such a name"})
    std::ofstream(config.folder + "/" + name) << "x";
  int64_t index = 0;
  for (bool has_failed = true; has_failed; ++index) {
    const FailingAllocation failing(index);
    try {
      const DiskStore store(config);
    } catch (const std::bad_alloc&) {
    }
    has_failed = FailingAllocation::has_failed();
  }
  CHECK(index > 10);
}

// The thread takes four submissions together; the failure occurs while it takes them or in the following step.
PAGODA_TEST(allocation_failure_in_the_mailbox_leaves_the_other_submissions) {
  if (!test::can_replace_allocations()) return test::note("not run: this sanitizer has its own operator new");
  struct Gate {  // a request whose events hold the thread until the others are submitted, and then let one allocation
                 // fail
    std::atomic<bool> is_open{false}, is_reached{false}, is_finished{false};
    int64_t index = 0;
    std::unique_ptr<FailingAllocation> failing;
    static void on_event(void* context, const Event* event) {
      Gate& self = *static_cast<Gate*>(context);
      if (event->kind == EventKind::finished) {
        self.failing.reset();
        self.is_finished = true;
      } else if (!self.is_reached) {
        self.is_reached = true;
        while (!self.is_open) std::this_thread::yield();
        self.failing = std::make_unique<FailingAllocation>(self.index);
      }
    }
  };
  const auto tokenizer = test::make_awkward_tokenizer();
  const std::vector<Request> requests = make_requests();
  for (int64_t index = 0; index < 60 && !test::failed(); ++index) {
    LoadedModel loaded;
    loaded.core = make_config(tokenizer, "");
    loaded.model = std::make_unique<CountedModel>(loaded.core, /*is_counted=*/false);
    auto engine = EngineThread::start(std::move(loaded));
    REQUIRE_OK(engine);
    Gate gate;
    gate.index = index;
    Watcher watchers[4];
    CHECK_OK((*engine)->submit(requests[0], &Gate::on_event, &gate).status);
    while (!gate.is_reached) std::this_thread::yield();
    for (size_t i = 0; i < 4; ++i)
      CHECK_OK((*engine)->submit(requests[i + 1], &Watcher::on_event, &watchers[i]).status);
    gate.is_open = true;
    while (!gate.is_finished) std::this_thread::yield();
    while ((*engine)->stats().num_running + (*engine)->stats().num_waiting > 0) std::this_thread::yield();
    (*engine)->shut_down();
    int num_errors = 0;
    for (const Watcher& watcher : watchers) {
      CHECK_EQ(watcher.num_finished, 1);
      num_errors += watcher.reason == FinishReason::error;
    }
    CHECK(num_errors <= 1);
    CHECK_EQ((*engine)->stats().num_free_blocks, (*engine)->stats().num_blocks);
    if (test::failed()) test::note("allocation " + std::to_string(index));
  }
}

}  // namespace pagoda::engine
