// Prefixes are copied to their stores beside the steps: others decode meanwhile, what is being copied is not given
// away, a copy that fails loses only itself, and the engine's end waits for the copies that have begun.
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
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

const test::Shape kShape{.num_blocks = 128, .max_num_seqs = 6, .max_checkpoints = 12, .waits_for_copies = false};

std::shared_ptr<HostStore> make_store() {
  return std::make_shared<HostStore>(PrefixLayout{.fingerprint = "fake",
                                                  .block_size = 16,
                                                  .block_bytes = 16 * sizeof(int32_t),
                                                  .state_bytes = sizeof(FakeModel::State)},
                                     1 << 20);
}

// Stops the thread that copies a state out of the model, until open(). The thread that steps is never stopped.
struct Gate {
  std::thread::id stepping = std::this_thread::get_id();
  std::atomic<bool> is_open{false}, has_caller{false}, fails{false};

  Status pass() {
    CHECK(std::this_thread::get_id() != stepping);
    has_caller = true;
    while (!is_open && std::this_thread::get_id() != stepping)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fails ? make_error(StatusCode::device_error, "injected") : ok_status();
  }
  void wait_for_caller() const {
    for (int i = 0; i < 600'000 && !has_caller; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(has_caller.load());
  }
};

Request request_of(const Tokens& prompt, int32_t max_tokens) {
  Request request = make_request(prompt);
  request.sampling.max_tokens = max_tokens;
  return request;
}

std::vector<int32_t> answer_alone(const Tokens& prompt, int32_t max_tokens) {
  FakeHarness alone(kShape);
  Recorder recorder;
  CHECK_OK(alone.add(request_of(prompt, max_tokens), 1, recorder));
  alone.run();
  return recorder.tokens;
}

struct Writing {
  std::shared_ptr<HostStore> store = make_store();
  Gate gate;
  FakeHarness harness;
  std::vector<std::unique_ptr<Recorder>> seen;

  explicit Writing(const test::Shape& shape = kShape) : harness(shape, {}, nullptr, nullptr, store) {
    harness.model->before_read = [this] { return gate.pass(); };
  }
  Recorder& ask(const Tokens& prompt, int32_t max_tokens) {
    CHECK_OK(
        harness.add(request_of(prompt, max_tokens), 1 + seen.size(), *seen.emplace_back(std::make_unique<Recorder>())));
    return *seen.back();
  }
  // How many tokens another engine with this store finds when the first `num_answered` tokens of the answer follow.
  int32_t num_found(const Tokens& prompt, const Recorder& recorder, size_t num_answered) const {
    Tokens all = prompt;
    all.insert(all.end(), recorder.tokens.begin(), recorder.tokens.begin() + static_cast<std::ptrdiff_t>(num_answered));
    FakeHarness other(kShape, {}, nullptr, nullptr, store);
    Recorder next;
    CHECK_OK(other.add(request_of(all, 3), 1, next));
    other.run();
    CHECK(next.tokens == answer_alone(all, 3));
    return next.usage.cached_tokens;
  }
};

}  // namespace

PAGODA_TEST(prefix_writes_leave_the_steps_of_others_alone) {
  Writing writing;
  const Tokens prompt = random_tokens(1, 100);
  Recorder& decoder = writing.ask(random_tokens(2, 20), 200);
  Recorder& first = writing.ask(prompt, 4);
  for (int i = 0; i < 1000 && !first.finished; ++i) writing.harness.core->step();
  CHECK(first.finished.load());  // although its prefix has not been copied
  writing.gate.wait_for_caller();
  const size_t before = decoder.tokens.size();
  for (int i = 0; i < 20; ++i) writing.harness.core->step();
  CHECK_EQ(decoder.tokens.size(), before + 20);
  CHECK_EQ(writing.store->stats().num_writes, 0);
  CHECK(writing.harness.core->has_work());
  writing.gate.is_open = true;
  writing.harness.run();  // checks that all is free
  CHECK(!writing.harness.core->has_work());
  CHECK(first.tokens == answer_alone(prompt, 4));
  CHECK(writing.num_found(prompt, first, 4) >= 103);
}

// More requests than the pool holds, one after another: none gets a block or state that is still being copied.
PAGODA_TEST(prefix_writes_keep_what_they_copy) {
  test::Shape shape = kShape;
  shape.num_blocks = 24;
  shape.max_checkpoints = 3;
  shape.max_num_seqs = 3;
  Writing writing(shape);
  std::vector<Tokens> prompts;
  for (uint64_t i = 0; i < 12; ++i)
    writing.ask(prompts.emplace_back(random_tokens(10 + i, 60 + static_cast<int>(i))), 6);
  for (int i = 0; i < 100; ++i) writing.harness.core->step();
  writing.gate.is_open = true;
  writing.harness.run();
  for (size_t i = 0; i < prompts.size(); ++i) {
    CHECK(writing.seen[i]->tokens == answer_alone(prompts[i], 6));
    CHECK(writing.num_found(prompts[i], *writing.seen[i], 6) >= static_cast<int32_t>(prompts[i].size()) + 5);
  }
}

PAGODA_TEST(prefix_writes_that_fail_lose_only_themselves) {
  Writing writing;
  writing.gate.is_open = writing.gate.fails = true;
  const Tokens prompt = random_tokens(3, 100), other = random_tokens(4, 90);
  const Recorder& lost = writing.ask(prompt, 4);
  writing.harness.run();
  CHECK(lost.tokens == answer_alone(prompt, 4));
  CHECK_EQ(writing.store->stats().num_writes, 0);
  writing.gate.fails = false;
  const Recorder& kept = writing.ask(other, 4);
  writing.harness.run();
  CHECK(writing.num_found(other, kept, 4) >= 93);
}

PAGODA_TEST(prefix_writes_outlive_cancelled_requests_and_end_with_their_engine) {
  Writing writing;
  std::vector<Tokens> prompts{random_tokens(5, 100), random_tokens(6, 120), random_tokens(7, 80)};
  for (const Tokens& prompt : prompts) writing.ask(prompt, 50);
  for (int i = 0; i < 20; ++i) writing.harness.core->step();
  writing.harness.core->cancel(1);
  writing.gate.wait_for_caller();
  writing.harness.core->end_all(FinishReason::cancelled, ok_status());
  for (const auto& each : writing.seen) CHECK(each->finished.load());
  writing.gate.is_open = true;
  writing.harness.core.reset();  // waits for the copies
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Recorder& ended = *writing.seen[i];
    CHECK(writing.num_found(prompts[i], ended, ended.tokens.size()) >= static_cast<int32_t>(prompts[i].size()));
  }
}

// A pool that forces preemptions: their blocks are given away when they have been copied, and read back beside the
// steps. Threads of any speed, so the gate delays each copy by a random time.
PAGODA_TEST(prefix_writes_and_reads_of_preempted_requests_are_beside_the_steps) {
  std::mt19937_64 random(test::seed(35));
  for (const bool has_state : {true, false}) {
    test::Shape shape = kShape;
    shape.num_blocks = 30;
    shape.has_state = has_state;
    const auto store =
        std::make_shared<HostStore>(PrefixLayout{.fingerprint = "fake",
                                                 .block_size = 16,
                                                 .block_bytes = 16 * sizeof(int32_t),
                                                 .state_bytes = has_state ? sizeof(FakeModel::State) : 0},
                                    1 << 20);
    FakeHarness harness(shape, {}, nullptr, nullptr, store);
    const std::thread::id stepping = std::this_thread::get_id();
    std::atomic<int> num_delays{0};
    const auto delay = [&] {
      CHECK(std::this_thread::get_id() != stepping);
      if (++num_delays % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    harness.model->before_read = [&] { return delay(), ok_status(); };
    harness.model->before_write = delay;
    std::vector<Tokens> prompts;
    std::vector<std::unique_ptr<Recorder>> seen;
    for (uint64_t i = 0; i < 10; ++i) {
      prompts.push_back(random_tokens(100 + i, 40 + static_cast<int>(random() % 60)));
      CHECK_OK(harness.add(request_of(prompts.back(), 100), i + 1, *seen.emplace_back(std::make_unique<Recorder>())));
    }
    harness.run();
    const EngineStats stats = harness.core->stats();
    test::note(std::to_string(stats.num_preemptions) + " preemptions, " + std::to_string(stats.host.num_hits) +
               " prefixes read, " + std::to_string(stats.cache.num_recomputed_tokens) + " tokens computed again");
    CHECK(stats.num_preemptions > 0 && stats.host.num_hits > 0);
    for (size_t i = 0; i < prompts.size(); ++i) {
      test::Shape roomy = kShape;
      roomy.has_state = has_state;
      FakeHarness alone(roomy);
      Recorder recorder;
      CHECK_OK(alone.add(request_of(prompts[i], 100), 1, recorder));
      alone.run();
      CHECK(seen[i]->tokens == recorder.tokens);
    }
  }
}

}  // namespace pagoda::engine
