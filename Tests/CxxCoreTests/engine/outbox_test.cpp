// engine: if the device works in parallel with the host, the events of a step are sent while the next one runs; none is
// late if no step follows, and the answers equal those of an engine that sends them immediately.
#include <vector>

#include "engine/fake_harness.h"
#include "engine/outbox.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;

Request make_request(int32_t first, int32_t num_tokens) {
  Request request;
  for (int32_t i = 0; i < 5; ++i) request.prompt_ids.push_back(first + i);
  request.sampling.max_tokens = num_tokens;
  request.sampling.ignore_eos = true;
  return request;
}

// A recorder that knows whether a step was running when each event arrived.
struct Watcher {
  Recorder recorder;
  const test::FakeModel* model = nullptr;
  std::vector<bool> ran_beside;

  static void on_event(void* context, const Event* event) {
    Watcher& self = *static_cast<Watcher*>(context);
    self.ran_beside.push_back(self.model->is_launched);
    Recorder::on_event(&self.recorder, event);
  }
};

void add(FakeHarness& harness, const Request& request, uint64_t id, Watcher& watcher) {
  watcher.model = harness.model.get();
  auto prepared = harness.core->prepare(request, id, &Watcher::on_event, &watcher);
  CHECK(prepared.is_ok());
  harness.core->add(std::move(*prepared));
}

PAGODA_TEST(engine_sends_the_events_of_a_step_beside_the_next) {
  FakeHarness harness({.is_early = true});
  Watcher watcher;
  add(harness, make_request(3, 4), 1, watcher);
  harness.core->step();
  CHECK_EQ(watcher.ran_beside.size(), 0u);  // its token waits for the second step
  harness.core->step();
  CHECK_EQ(watcher.ran_beside.size(), 1u);
  CHECK_EQ(harness.core->stats().num_generated_tokens, 2);
  harness.run();
  // Three tokens during a later step; the last one and the end after the last step.
  CHECK((watcher.ran_beside == std::vector<bool>{true, true, true, false, false}));
  CHECK(watcher.recorder.reason == FinishReason::length);
}

PAGODA_TEST(engine_sends_events_at_once_where_the_host_does_the_work) {
  FakeHarness harness({});
  Watcher watcher;
  add(harness, make_request(3, 4), 1, watcher);
  for (size_t i = 1; i < 4; ++i) {
    harness.core->step();
    CHECK_EQ(watcher.ran_beside.size(), i);
    CHECK(!watcher.ran_beside.back());
  }
  harness.run();
}

PAGODA_TEST(engine_answers_are_the_same_with_events_beside_steps) {
  std::vector<std::vector<int32_t>> tokens[2];
  for (const bool is_early : {false, true}) {
    FakeHarness harness({.num_blocks = 12, .max_num_seqs = 3, .is_early = is_early});  // some are preempted
    std::vector<Recorder> recorders(7);
    for (size_t i = 0; i < recorders.size(); ++i) {
      Request request = make_request(static_cast<int32_t>(i) + 1, 20 + 7 * static_cast<int32_t>(i));
      request.sampling.num_top_logprobs = i % 2 == 0 ? 2 : -1;
      CHECK_OK(harness.add(request, i + 1, recorders[i]));
    }
    harness.run();
    for (const Recorder& recorder : recorders) {
      CHECK(recorder.finished.load() && recorder.reason == FinishReason::length);
      tokens[is_early].push_back(recorder.tokens);
      for (const uint32_t bits : recorder.logprob_bits) tokens[is_early].back().push_back(static_cast<int32_t>(bits));
    }
  }
  CHECK(tokens[0] == tokens[1]);
}

PAGODA_TEST(engine_cancel_sends_the_tokens_before_the_end) {
  FakeHarness harness({.is_early = true});
  Watcher watcher;
  add(harness, make_request(3, 50), 1, watcher);
  for (int i = 0; i < 3; ++i) harness.core->step();
  CHECK_EQ(watcher.recorder.tokens.size(), 2u);
  harness.core->cancel(1);
  CHECK_EQ(watcher.recorder.tokens.size(), 3u);
  CHECK(watcher.recorder.finished.load() && watcher.recorder.reason == FinishReason::cancelled);
  CHECK_EQ(watcher.recorder.usage.completion_tokens, 3);
}

PAGODA_TEST(engine_a_step_that_fails_on_the_device_keeps_the_events_before_it) {
  FakeHarness harness({.is_early = true});
  harness.model->fail_at_step = 2;
  Watcher watcher;
  add(harness, make_request(3, 50), 1, watcher);
  harness.run();
  CHECK_EQ(watcher.recorder.tokens.size(), 2u);
  CHECK(watcher.recorder.reason == FinishReason::error);
  CHECK(watcher.recorder.status.code == StatusCode::device_error);
}

PAGODA_TEST(engine_outbox_sends_before_it_is_too_small_and_keeps_the_order) {
  Outbox outbox(2);
  std::vector<uint64_t> ids;
  const EventCallback note = [](void* context, const Event* event) {
    CHECK(event->stop_string.empty() && event->embedding.empty());
    static_cast<std::vector<uint64_t>*>(context)->push_back(event->request_id);
  };
  Event event;
  for (uint64_t id = 1; id <= 5; ++id) {
    event.request_id = id;
    event.text = "a text that is too long to lie in the string itself";
    outbox.add(note, &ids, event);
    CHECK(event.text.empty() || id <= 2);
  }
  CHECK((ids == std::vector<uint64_t>{1, 2, 3, 4}));
  outbox.send_all();
  CHECK((ids == std::vector<uint64_t>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace pagoda::engine
