// engine core: a late mask delays its own request and no other, and changes no answer.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/engine_core.h"
#include "engine/fake_model.h"
#include "engine/recorder.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeModel;
using test::Recorder;

const std::string kSchema =
    R"({"type": "object", "properties": {"name": {"enum": ["anna", "annette", "bob"]}, "x": {"type": "integer", "maximum": 99}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}}, "required": ["name", "x", "tags"]})";

// While it is closed, stops the mask thread before its next slice of work.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_open_ || num_passes_ > 0; });
    if (!is_open_) --num_passes_;
  }
  void set_open(bool is_open) {
    std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  void let_one_pass() {
    std::lock_guard lock(mutex_);
    ++num_passes_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
  int num_passes_ = 0;
};

struct Harness {
  std::shared_ptr<const text::SubwordTokenizer> tokenizer = test::make_awkward_tokenizer();
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::unique_ptr<FakeModel> model;
  std::unique_ptr<EngineCore> core;

  explicit Harness(bool has_thread, int64_t num_blocks = 64, bool speculates = false) {
    CoreConfig config;
    config.limits = {.num_kv_blocks = num_blocks, .num_state_slots = 4, .max_num_tokens = 64, .max_num_seqs = 4};
    config.max_drafts = speculates ? 5 : 0;
    config.limits.max_draft_rows = 3 * config.max_drafts;
    config.uses_lookup = speculates;
    config.limits.max_logits_rows = 4 + config.limits.max_draft_rows;
    config.limits.max_blocks_per_seq = static_cast<int32_t>(num_blocks);
    config.limits.max_model_len = static_cast<int32_t>(num_blocks * 16);
    config.vocab_size = tokenizer->vocab_size();
    config.step_times.max_decode_seconds = -1;
    config.eos_token_ids = {test::end_id(*tokenizer)};
    config.tokenizer = tokenizer;
    config.num_sample_threads = has_thread ? 3 : 1;
    config.has_mask_thread = has_thread;
    TestHooks hooks;
    hooks.takes_all_drafts = speculates;
    if (has_thread) hooks.before_mask = [gate = gate] { gate->pass(); };
    model = std::make_unique<FakeModel>(config.limits, config.limits.block_size, config.vocab_size);
    core = std::make_unique<EngineCore>(*model, config, std::move(hooks));
  }
  ~Harness() { gate->set_open(true); }  // the destructor waits for the thread

  Request request(uint64_t seed, int32_t max_tokens, bool has_schema) const {
    Request request;
    for (uint64_t i = 0; i < 20; ++i) request.prompt_ids.push_back(static_cast<int32_t>('a' + (seed + i) % 20));
    request.sampling.max_tokens = max_tokens;
    request.sampling.temperature = 1;
    request.sampling.has_seed = true;
    request.sampling.seed = seed;
    request.sampling.num_top_logprobs = 0;
    request.sampling.ignore_eos = !has_schema;
    if (has_schema) request.grammar = {GrammarKind::json_schema, kSchema};
    return request;
  }

  void add(const Request& request, uint64_t id, Recorder& recorder) {
    auto prepared = core->prepare(request, id, &Recorder::on_event, &recorder);
    REQUIRE_OK(prepared);
    core->add(std::move(*prepared));
  }
  void run() {
    while (core->has_work()) core->step();
    CHECK_EQ(core->stats().num_free_blocks, core->stats().num_blocks);
    CHECK_EQ(core->stats().num_free_state_slots, core->stats().num_state_slots);
  }
  void step_until(const std::function<bool()>& is_done) {
    while (core->has_work() && !is_done()) core->step();
  }
};

void check_same(const Recorder& a, const Recorder& b) {
  CHECK(a.tokens == b.tokens && a.logprob_bits == b.logprob_bits && a.text == b.text);
  CHECK(a.reason == b.reason);
  CHECK_EQ(a.usage.completion_tokens, b.usage.completion_tokens);
  if (test::failed()) test::note(a.text + "\nagainst\n" + b.text);
}

void run_alone(const Request& request, Recorder& recorder) {
  Harness harness(/*has_thread=*/false);
  harness.add(request, 1, recorder);
  harness.run();
  CHECK(recorder.finished.load() && harness.core->stats().num_late_masks == 0);
}

}  // namespace

PAGODA_TEST(late_masks_hold_up_no_other_request) {
  Harness harness(/*has_thread=*/true);
  const Request guided = harness.request(3, 200, true), free = harness.request(4, 40, false);
  Recorder guided_alone, free_alone, guided_late, free_beside;
  run_alone(guided, guided_alone);
  run_alone(free, free_alone);
  harness.gate->set_open(false);
  harness.add(guided, 1, guided_late);
  harness.add(free, 2, free_beside);
  harness.step_until([&] { return free_beside.finished.load(); });
  CHECK(free_beside.finished.load() && guided_late.tokens.empty());
  CHECK_EQ(harness.core->stats().num_late_masks, 1);
  const int num_steps = harness.model->num_steps;
  for (int i = 0; i < 3; ++i) harness.core->step();
  CHECK_EQ(harness.model->num_steps, num_steps);  // no step runs for a row that waits
  harness.gate->set_open(true);
  harness.run();
  check_same(guided_late, guided_alone);
  check_same(free_beside, free_alone);
}

PAGODA_TEST(late_masks_change_no_answer_with_drafts_and_preemptions) {
  const uint64_t first = test::seed(50);
  int64_t num_late = 0, num_preemptions = 0;
  for (uint64_t round = 0; round < 4 && !test::failed(); ++round) {
    Harness harness(/*has_thread=*/true, /*num_blocks=*/14, /*speculates=*/round % 2 == 1);
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 8; ++i)
      requests.push_back(harness.request(first + 8 * round + i, static_cast<int32_t>(10 + 15 * i), i % 4 != 3));
    std::vector<Recorder> together(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) harness.add(requests[i], i + 1, together[i]);
    // Occasionally one mask, so that most rows are late.
    harness.gate->set_open(false);
    for (int i = 0; harness.core->has_work(); ++i) {
      if (i % 2 == 0) harness.gate->let_one_pass();
      harness.core->step();
    }
    num_late += harness.core->stats().num_late_masks;
    num_preemptions += harness.core->stats().num_preemptions;
    for (size_t i = 0; i < requests.size(); ++i) {
      Recorder alone;
      run_alone(requests[i], alone);
      check_same(together[i], alone);
    }
  }
  CHECK(num_late > 20 && num_preemptions > 0);
}

PAGODA_TEST(late_masks_leave_nothing_of_a_cancelled_request) {
  Harness harness(/*has_thread=*/true);
  harness.gate->set_open(false);
  std::vector<Recorder> recorders(3);
  for (size_t i = 0; i < 3; ++i) harness.add(harness.request(i, 50, true), i + 1, recorders[i]);
  harness.step_until([&] { return harness.core->stats().num_late_masks == 3; });
  harness.core->cancel(2);
  CHECK(recorders[1].reason == FinishReason::cancelled && recorders[1].tokens.empty());
  harness.gate->set_open(true);
  harness.run();
  CHECK(recorders[0].reason == FinishReason::stop && recorders[2].reason == FinishReason::stop);
}

// Whether the last token of a request ends its document determines the finish reason, however late that is known.
PAGODA_TEST(late_masks_tell_an_end_from_a_limit) {
  Harness probe(/*has_thread=*/false);
  Recorder whole;
  run_alone(probe.request(5, 200, true), whole);
  const auto length = static_cast<int32_t>(whole.tokens.size());
  REQUIRE(whole.reason == FinishReason::stop && length > 3);
  for (const int32_t limit : {length - 1, length}) {
    Harness harness(/*has_thread=*/true);
    harness.gate->set_open(false);
    Recorder recorder;
    harness.add(harness.request(5, limit, true), 1, recorder);
    while (harness.core->has_work()) {
      harness.core->step();
      harness.gate->let_one_pass();
    }
    CHECK(recorder.reason == (limit == length ? FinishReason::stop : FinishReason::length));
    CHECK_EQ(static_cast<int32_t>(recorder.tokens.size()), limit);
  }
}

}  // namespace pagoda::engine
