// Prefixes are read from their stores beside the steps: others decode meanwhile, several are read together, one that
// two requests need is read once, and a request may end before its prefix has arrived.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/fake_harness.h"
#include "engine/prefix/disk_cache_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::FakeModel;
using test::Recorder;

const test::Shape kShape{.num_blocks = 128, .max_num_seqs = 6, .max_checkpoints = 12};

std::shared_ptr<HostStore> make_store() {
  return std::make_shared<HostStore>(PrefixLayout{.fingerprint = "fake",
                                                  .block_size = 16,
                                                  .block_bytes = 16 * sizeof(int32_t),
                                                  .state_bytes = sizeof(FakeModel::State)},
                                     1 << 20);
}

// Stops threads that copy a prefix into the model, until open(). The thread that steps is never stopped: it is a fault.
struct Gate {
  std::thread::id stepping = std::this_thread::get_id();
  std::atomic<bool> is_open{false}, has_caller{false};
  std::atomic<int> num_passed{0};

  void pass() {
    CHECK(std::this_thread::get_id() != stepping);
    has_caller = true;
    while (!is_open && std::this_thread::get_id() != stepping)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++num_passed;
  }
  void wait_for_caller() const {
    for (int i = 0; i < 600'000 && !has_caller; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(has_caller.load());
  }
};

struct Asked {
  Tokens prompt;
  std::vector<int32_t> tokens;
};

// Answers that another engine gave, which left its prefixes in the store.
std::vector<Asked> fill(const std::shared_ptr<HostStore>& store, std::vector<Tokens> prompts) {
  FakeHarness first(kShape, {}, nullptr, nullptr, store);
  std::vector<Asked> asked;
  for (Tokens& prompt : prompts) {
    Recorder recorder;
    CHECK_OK(first.add(make_request(prompt), asked.size() + 1, recorder));
    first.run();
    asked.push_back({std::move(prompt), recorder.tokens});
  }
  return asked;
}

// An engine with an empty cache whose decoder runs, and the gate closed.
struct Reading {
  Gate gate;
  FakeHarness harness;
  Recorder decoder;
  std::vector<std::unique_ptr<Recorder>> seen;

  explicit Reading(const std::shared_ptr<HostStore>& store) : harness(kShape, {}, nullptr, nullptr, store) {
    harness.model->before_write = [this] { gate.pass(); };
    Request request = make_request(random_tokens(900, 20));
    request.sampling.max_tokens = 200;
    CHECK_OK(harness.add(request, 1, decoder));
    for (int i = 0; i < 1000 && decoder.tokens.empty(); ++i) harness.core->step();
  }
  Recorder& ask(const Asked& asked) {
    CHECK_OK(
        harness.add(make_request(asked.prompt), 2 + seen.size(), *seen.emplace_back(std::make_unique<Recorder>())));
    return *seen.back();
  }
};

}  // namespace

PAGODA_TEST(prefix_reads_leave_the_steps_of_others_alone) {
  const auto store = make_store();
  const std::vector<Asked> asked = fill(store, {random_tokens(1, 100)});
  Reading reading(store);
  Recorder& waiting = reading.ask(asked[0]);
  reading.harness.core->step();
  reading.gate.wait_for_caller();
  const size_t before = reading.decoder.tokens.size();
  for (int i = 0; i < 20; ++i) reading.harness.core->step();
  CHECK(reading.decoder.tokens.size() >= before + 19);
  CHECK(waiting.tokens.empty());
  reading.gate.is_open = true;
  reading.harness.run();
  CHECK(waiting.tokens == asked[0].tokens);
  CHECK(waiting.usage.cached_tokens >= 96);
}

// All are handed over in one step, and read without another.
PAGODA_TEST(prefix_reads_of_several_requests_begin_in_one_step) {
  const auto store = make_store();
  const std::vector<Asked> asked =
      fill(store, {random_tokens(1, 100), random_tokens(2, 120), random_tokens(3, 80), random_tokens(4, 90)});
  Reading reading(store);
  for (const Asked& each : asked) reading.ask(each);
  reading.harness.core->step();
  reading.gate.is_open = true;
  const int num_blocks = 6 + 7 + 5 + 5;  // at least: those of the prompts that are full
  for (int i = 0; i < 600'000 && reading.gate.num_passed < num_blocks; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(reading.gate.num_passed >= num_blocks);
  reading.harness.run();
  for (size_t i = 0; i < asked.size(); ++i) {
    CHECK(reading.seen[i]->tokens == asked[i].tokens);
    CHECK(reading.seen[i]->usage.cached_tokens >= static_cast<int32_t>(asked[i].prompt.size()) - 16);
  }
}

PAGODA_TEST(prefix_reads_are_shared_by_requests_with_the_same_prefix) {
  const auto store = make_store();
  const std::vector<Asked> asked = fill(store, {random_tokens(1, 100)});
  const int64_t hits = store->stats().num_hits;
  Reading alone(store);
  alone.gate.is_open = true;
  alone.ask(asked[0]);
  alone.harness.run();
  const int64_t of_one = store->stats().num_hits - hits;
  CHECK(of_one > 0);
  Reading together(store);
  for (int i = 0; i < 4; ++i) together.ask(asked[0]);
  for (int i = 0; i < 5; ++i) together.harness.core->step();
  together.gate.is_open = true;
  together.harness.run();
  CHECK_EQ(store->stats().num_hits - hits, 2 * of_one);
  for (const auto& each : together.seen) {
    CHECK(each->tokens == asked[0].tokens);
    CHECK(each->usage.cached_tokens >= 96);
  }
}

// Blocks and slots that are being filled are given back when the copy has ended, by an engine that is idle otherwise.
PAGODA_TEST(prefix_reads_outlive_cancelled_requests) {
  const auto store = make_store();
  const std::vector<Asked> asked = fill(store, {random_tokens(1, 100), random_tokens(2, 120)});
  Reading reading(store);
  for (const Asked& each : asked) reading.ask(each);
  reading.harness.core->step();
  reading.gate.wait_for_caller();
  for (uint64_t id : {1, 2, 3}) reading.harness.core->cancel(id);
  CHECK(reading.harness.core->has_work());
  reading.gate.is_open = true;
  reading.harness.run();  // checks that all is free
  Recorder& again = reading.ask(asked[0]);
  reading.harness.run();
  CHECK(again.tokens == asked[0].tokens && again.usage.cached_tokens >= 96);
}

PAGODA_TEST(prefix_reads_end_with_their_engine) {
  const auto store = make_store();
  const std::vector<Asked> asked = fill(store, {random_tokens(1, 100), random_tokens(2, 120)});
  Reading reading(store);
  for (const Asked& each : asked) reading.ask(each);
  reading.harness.core->step();
  reading.gate.wait_for_caller();
  reading.gate.is_open = true;
  reading.harness.core->end_all(FinishReason::cancelled, ok_status());
  reading.harness.core.reset();
  for (const auto& each : reading.seen) CHECK(each->finished.load());
}

}  // namespace pagoda::engine
