// engine core: a request's tokens do not depend on its neighbours; a failure affects only the requests it belongs to.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/registry.h"
#include "device/support.h"
#include "engine/fake_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::kFakeVocab;
using test::Recorder;
using test::Shape;
using Harness = test::FakeHarness;

Request make_request(std::mt19937_64& rng, int prompt, int output) {
  Request request;
  for (int i = 0; i < prompt; ++i) request.prompt_ids.push_back(static_cast<int32_t>(rng() % kFakeVocab));
  request.sampling.max_tokens = output;
  request.sampling.num_top_logprobs = 0;
  request.sampling.has_seed = true;
  request.sampling.seed = rng();
  request.sampling.temperature = rng() % 2 ? 0.8f : 0.0f;
  return request;
}

Request simple_request(int prompt, int output) {
  std::mt19937_64 rng(5);
  Request request = make_request(rng, prompt, output);
  request.sampling.temperature = 0;
  return request;
}

void run_solo(const Shape& shape, const Request& request, Recorder& recorder) {
  Shape large = shape;
  large.num_blocks = 64;
  Harness harness(large);
  CHECK_OK(harness.add(request, 1, recorder));
  harness.run();
}

void compare_with_solo(const Shape& shape, const Request& request, const Recorder& seen, bool aborted) {
  Recorder solo;
  run_solo(shape, request, solo);
  if (aborted) solo.tokens.resize(seen.tokens.size()), solo.logprob_bits.resize(seen.tokens.size());
  CHECK(seen.tokens == solo.tokens);
  CHECK(seen.logprob_bits == solo.logprob_bits);
}

void run_random_schedule(uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) {
    return static_cast<int>(low + rng() % static_cast<uint64_t>(high - low + 1));
  };
  Shape shape;
  shape.block_size = 8 << pick(0, 2);
  shape.num_blocks = pick(3, 12);
  shape.max_num_seqs = pick(1, 5);
  shape.max_num_tokens = pick(shape.max_num_seqs, 40);
  shape.has_state = pick(0, 1) == 1;
  Harness harness(shape);
  struct Entry {
    Request request;
    Recorder recorder;
    bool aborted = false;
  };
  std::map<uint64_t, Entry> entries;
  int to_add = pick(3, 10);
  for (int steps = 0; (to_add > 0 || harness.core->has_work()) && steps < 10000; ++steps) {
    if (to_add > 0 && pick(0, 1) == 0) {
      const uint64_t id = static_cast<uint64_t>(to_add--);
      Entry& entry = entries[id];
      entry.request = make_request(rng, pick(1, 40), pick(1, 24));
      if (!harness.add(entry.request, id, entry.recorder).is_ok()) entries.erase(id);
    }
    if (!entries.empty() && pick(0, 29) == 0) {
      auto& [id, entry] = *std::next(entries.begin(), pick(0, static_cast<int>(entries.size()) - 1));
      entry.aborted = entry.aborted || !entry.recorder.finished;
      harness.core->cancel(id);
    }
    harness.core->step();
  }
  harness.check_all_free();
  for (auto& [id, entry] : entries) {
    CHECK(entry.recorder.finished.load());
    compare_with_solo(shape, entry.request, entry.recorder, entry.aborted);
  }
}

}  // namespace

PAGODA_TEST(engine_core_tokens_do_not_depend_on_the_schedule) {
  const uint64_t first = test::seed(100);
  for (uint64_t i = 0; i < 200 && !test::failed(); ++i) {
    run_random_schedule(first + i);
    if (test::failed()) test::note("schedule " + std::to_string(first + i));
  }
}

// A device whose steps may take no time at all: prompts are split into small chunks, and the tokens do not change.
PAGODA_TEST(engine_core_a_step_budget_cuts_prompts_and_changes_no_answer) {
  std::mt19937_64 rng(test::seed(29));
  Shape shape{.num_blocks = 256, .max_num_tokens = 512};
  std::vector<Request> requests;
  for (int i = 0; i < 6; ++i) requests.push_back(make_request(rng, 300 + i, 20));
  std::vector<std::vector<int32_t>> tokens[2];
  for (const double seconds : {0.0, 1e-12}) {
    shape.max_step_seconds = seconds;
    Harness harness(shape);
    std::vector<Recorder> recorders(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) CHECK_OK(harness.add(requests[i], i + 1, recorders[i]));
    harness.run();
    for (const Recorder& recorder : recorders) tokens[seconds > 0].push_back(recorder.tokens);
    CHECK_EQ(harness.model->largest_step, seconds > 0 ? 64 : 512);
    CHECK(seconds == 0 || harness.model->num_steps > 6 * 300 / 32);
  }
  CHECK(tokens[0] == tokens[1]);
}

// Block tables of long sequences are not rewritten in each step, nor all of them when a sequence starts or ends: each
// block id is written once, and once more if its row fills the gap of a sequence that ended.
PAGODA_TEST(engine_core_writes_a_block_table_once) {
  test::FakeHarness harness({.num_blocks = 512, .max_num_seqs = 5, .max_num_tokens = 512});
  Recorder recorders[5];
  for (uint64_t i = 0; i < 5; ++i) {
    Request request;
    request.prompt_ids.assign(1000, static_cast<int32_t>(i));  // 63 blocks
    request.sampling.max_tokens = i == 1 ? 10 : 60;            // and four more
    CHECK_OK(harness.add(request, i + 1, recorders[i]));
  }
  harness.run();
  for (const Recorder& recorder : recorders) CHECK(recorder.reason == FinishReason::length);
  CHECK(harness.model->num_table_entries <= 2 * 5 * 67);
}

PAGODA_TEST(engine_core_a_failed_step_ends_its_requests_and_the_engine_continues) {
  Harness harness(Shape{});
  harness.model->fail_at_step = 2;
  Recorder first, second;
  CHECK_OK(harness.add(simple_request(10, 8), 1, first));
  CHECK_OK(harness.add(simple_request(10, 8), 2, second));
  harness.run();
  CHECK(first.reason == FinishReason::error && first.status.code == StatusCode::device_error);
  CHECK(second.reason == FinishReason::error);
  Recorder third;
  CHECK_OK(harness.add(simple_request(10, 8), 3, third));
  harness.run();
  CHECK(third.reason == FinishReason::length);
  compare_with_solo(Shape{}, simple_request(10, 8), third, false);
}

PAGODA_TEST(engine_core_a_device_that_fails_step_after_step_is_a_fault_until_it_works_again) {
  Harness harness(Shape{});
  harness.model->fails = true;
  for (uint64_t id = 1; id <= 3; ++id) {
    CHECK(harness.core->stats().fault.empty());
    Recorder recorder;
    CHECK_OK(harness.add(simple_request(10, 8), id, recorder));
    harness.run();
    CHECK(recorder.reason == FinishReason::error && recorder.status.code == StatusCode::device_error);
  }
  CHECK_EQ(harness.core->stats().fault, std::string("injected"));
  harness.model->fails = false;
  Recorder good;
  CHECK_OK(harness.add(simple_request(10, 8), 9, good));
  harness.run();
  CHECK(good.reason == FinishReason::length);
  CHECK(harness.core->stats().fault.empty());
}

namespace {

// A device that is only queried for its health.
class DeadDevice final : public device::Device, public device::DeviceHealth {
 public:
  const device::DeviceInfo& info() const noexcept override { return info_; }
  device::Encoder& encoder() noexcept override { return inner_->encoder(); }
  Result<std::unique_ptr<device::Buffer>> allocate(size_t size, const std::string& label) override {
    return inner_->allocate(size, label);
  }
  Result<std::unique_ptr<device::Weight>> make_weight(const device::WeightSource& source,
                                                      WeightFormat format) override {
    return inner_->make_weight(source, format);
  }
  size_t weight_bytes(int64_t, int64_t, WeightFormat) const noexcept override { return 0; }
  Status reserve(const device::StepLimits&) override { return ok_status(); }
  size_t reserve_bytes(const device::StepLimits&) const noexcept override { return 0; }
  Status upload(const device::Tensor&, const void*, size_t) noexcept override { return ok_status(); }
  Status download(const device::Tensor&, void*, size_t) noexcept override { return ok_status(); }
  Status health() noexcept override { return make_error(StatusCode::device_error, "gone"); }

 private:
  std::unique_ptr<device::Device> inner_ = std::move(*device::make_device("reference", 1));
  device::DeviceInfo info_;
};

// A client that has seen a token may ask for the statistics at once.
PAGODA_TEST(engine_core_a_request_counts_as_running_when_its_first_token_arrives) {
  struct Client {
    Harness harness{Shape{}};
    std::vector<EngineStats> seen;
  } client;
  const auto on_event = [](void* context, const Event* event) {
    Client& self = *static_cast<Client*>(context);
    if (event->kind == EventKind::token) self.seen.push_back(self.harness.core->stats());
  };
  auto prepared = client.harness.core->prepare(simple_request(5, 3), 1, on_event, &client);
  CHECK_OK(prepared.status);
  client.harness.core->add(std::move(*prepared));
  client.harness.run();
  CHECK_EQ(client.seen.size(), size_t{3});
  for (const EngineStats& stats : client.seen) {
    CHECK_EQ(stats.num_running, 1);
    CHECK_EQ(stats.num_waiting, 0);
  }
}

}  // namespace

PAGODA_TEST(engine_core_a_dead_device_ends_every_request_at_once) {
  DeadDevice device;
  Harness harness(Shape{.max_num_seqs = 1}, {}, nullptr, &device);
  harness.model->fail_at_step = 1;
  Recorder running, waiting, late;
  CHECK_OK(harness.add(simple_request(10, 8), 1, running));
  CHECK_OK(harness.add(simple_request(10, 8), 2, waiting));
  harness.run();
  CHECK_EQ(harness.core->stats().fault, std::string("injected"));
  CHECK(running.status.code == StatusCode::device_error && running.tokens.size() == 1);
  CHECK(waiting.status.code == StatusCode::device_error && waiting.tokens.empty());
  CHECK_OK(harness.add(simple_request(10, 8), 3, late));
  harness.run();
  CHECK(late.status.code == StatusCode::device_error && late.status.message == "injected");
  CHECK_EQ(harness.model->num_steps, 2);
}

PAGODA_TEST(engine_core_nan_logits_fail_only_their_own_request) {
  Harness harness(Shape{});
  harness.model->nan_at_step = 1;
  Recorder first, second;
  CHECK_OK(harness.add(simple_request(10, 8), 1, first));
  CHECK_OK(harness.add(simple_request(12, 8), 2, second));
  harness.run();
  CHECK(first.reason == FinishReason::error && first.status.code == StatusCode::device_error);
  CHECK(second.reason == FinishReason::length);
  CHECK_EQ(second.tokens.size(), 8u);
}

PAGODA_TEST(engine_core_cancel_frees_at_once_in_every_state) {
  Shape shape;
  shape.max_num_seqs = 1;
  shape.max_num_tokens = 16;
  Harness harness(shape);
  Recorder decoding, prefilling, waiting;
  CHECK_OK(harness.add(simple_request(4, 50), 1, decoding));
  CHECK_OK(harness.add(simple_request(40, 5), 2, prefilling));
  CHECK_OK(harness.add(simple_request(60, 5), 3, waiting));
  for (int i = 0; i < 3; ++i) harness.core->step();
  harness.core->cancel(1);
  CHECK(decoding.reason == FinishReason::cancelled && decoding.tokens.size() == 3);
  harness.core->step();  // the first chunk of the second request
  harness.core->cancel(3);
  CHECK(waiting.reason == FinishReason::cancelled && waiting.tokens.empty());
  harness.core->cancel(2);
  CHECK(prefilling.reason == FinishReason::cancelled && prefilling.tokens.empty());
  harness.core->cancel(2);  // a second time: nothing happens
  harness.check_all_free();
}

PAGODA_TEST(engine_core_ends_on_stop_ids_and_length) {
  Recorder plain;
  run_solo(Shape{}, simple_request(10, 12), plain);
  REQUIRE(plain.tokens.size() == 12);
  const int32_t stop = plain.tokens[4];
  size_t first_at = 0;
  while (plain.tokens[first_at] != stop) ++first_at;

  Request request = simple_request(10, 12);
  Harness harness(Shape{}, {stop});
  Recorder ended, ignored, late;
  CHECK_OK(harness.add(request, 1, ended));
  request.sampling.ignore_eos = true;
  CHECK_OK(harness.add(request, 2, ignored));
  request.sampling.ignore_eos = false;
  request.sampling.min_tokens = 8;
  CHECK_OK(harness.add(request, 3, late));
  harness.run();
  CHECK(ended.reason == FinishReason::stop);
  CHECK_EQ(ended.tokens.size(), first_at + 1);  // the stop id itself is reported
  CHECK_EQ(ended.usage.prompt_tokens, 10);
  CHECK_EQ(static_cast<size_t>(ended.usage.completion_tokens), first_at + 1);
  CHECK(ignored.reason == FinishReason::length && ignored.tokens == plain.tokens);
  CHECK(late.tokens.size() >= 8);
  for (size_t i = 0; i < 8; ++i) CHECK(late.tokens[i] != stop);
}

PAGODA_TEST(engine_core_refuses_bad_requests_by_name) {
  Harness harness(Shape{});
  Recorder recorder;
  const auto refusal = [&](Request request) { return harness.add(request, 9, recorder); };
  Request request = simple_request(4, 4);
  request.prompt_ids.clear();
  CHECK(refusal(request).message.find("no tokens") != std::string::npos);
  request.prompt_ids = {1, kFakeVocab};
  CHECK(refusal(request).message.find("prompt token 1") != std::string::npos);
  request.prompt_ids = {-1};
  CHECK(refusal(request).code == StatusCode::invalid_argument);
  request = simple_request(4, 4);
  request.sampling.stop = {"x"};
  CHECK(refusal(request).message.find("tokenizer") != std::string::npos);
  request = simple_request(4, 4);
  request.sampling.temperature = -1;
  CHECK(refusal(request).message.find("temperature") != std::string::npos);
  CHECK(refusal(simple_request(4, 2000)).code == StatusCode::context_overflow);
  CHECK(!harness.core->has_work() && !recorder.finished.load());
}

PAGODA_TEST(engine_core_without_max_tokens_uses_the_remaining_context) {
  Shape shape;
  shape.num_blocks = 2;
  shape.block_size = 8;
  Harness harness(shape);
  Recorder recorder;
  Request request = simple_request(10, 1);
  request.sampling.max_tokens = 0;
  CHECK_OK(harness.add(request, 1, recorder));
  harness.run();
  CHECK_EQ(recorder.tokens.size(), 6u);
  CHECK(recorder.reason == FinishReason::length);
}

}  // namespace pagoda::engine
