// Rows whose logits the owner of a request changes, or chooses a token from: answers, waiting, and the end of requests.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine_thread.h"
#include "engine/fake_harness.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::kFakeVocab;
using test::Recorder;

// A request's owner: keeps the last row it was given.
struct Owner : Recorder {
  uint64_t id = 0;
  int32_t token_index = -1;
  std::vector<float> logits;
  std::vector<int32_t> shown_tokens;
  std::atomic<int> num_rows{0};

  static void on_row(void* context, const LogitRow* row) {
    Owner& self = *static_cast<Owner*>(static_cast<Recorder*>(context));
    self.id = row->request_id;
    self.token_index = row->token_index;
    self.logits.assign(row->logits, row->logits + row->num_logits);
    self.shown_tokens.assign(row->tokens, row->tokens + row->num_tokens);
    CHECK_EQ(row->num_tokens, row->num_prompt_tokens + row->token_index);
    ++self.num_rows;
  }
};

Request request_of(uint64_t seed, int32_t max_tokens) {
  Request request;
  for (uint64_t i = 0; i < 21; ++i) request.prompt_ids.push_back(static_cast<int32_t>((seed * 31 + i * 7) % 90));
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = 1.0f;
  request.sampling.top_p = 0.9f;
  request.sampling.has_seed = true;
  request.sampling.seed = seed;
  request.sampling.num_top_logprobs = 2;
  return request;
}

Request owned(Request request) {
  request.row_callback = &Owner::on_row;
  return request;
}

void run_alone(const Request& request, Recorder& recorder, const test::Shape& shape = {}) {
  FakeHarness harness(shape);
  REQUIRE_OK(harness.add(request, 1, recorder));
  harness.run();
}

// Steps until the owner has its next row, or its request has ended.
void step_to_row(FakeHarness& harness, const Owner& owner) {
  const int before = owner.num_rows;
  for (int i = 0; i < 10000 && owner.num_rows == before && !owner.finished; ++i) harness.core->step();
}

// Answers every row after `change`, until the end.
template <class Change>
void answer_all(FakeHarness& harness, Owner& owner, Change&& change) {
  for (;;) {
    step_to_row(harness, owner);
    if (owner.finished) return;
    const int32_t chosen = change(owner.logits);
    harness.core->answer_row(owner.id, owner.token_index, owner.logits, chosen);
  }
}

void check_same(const Recorder& a, const Recorder& b) {
  CHECK(a.tokens == b.tokens && a.logprob_bits == b.logprob_bits && a.reason == b.reason);
}

}  // namespace

PAGODA_TEST(owner_rows_left_alone_give_the_same_answer_in_any_shape) {
  for (const bool is_early : {false, true}) {
    for (const bool has_state : {false, true}) {
      const test::Shape shape{.has_state = has_state, .max_checkpoints = 4, .is_early = is_early};
      Recorder plain;
      run_alone(request_of(3, 30), plain, shape);
      FakeHarness harness(shape);
      Owner owner;
      REQUIRE_OK(harness.add(owned(request_of(3, 30)), 1, owner));
      answer_all(harness, owner, [](const auto&) { return -1; });
      check_same(owner, plain);
      CHECK_EQ(owner.num_rows.load(), 30);
      CHECK(owner.shown_tokens.size() == 21 + 29 &&
            std::equal(plain.tokens.begin(), plain.tokens.end() - 1, owner.shown_tokens.begin() + 21));
      harness.check_all_free();
    }
  }
}

PAGODA_TEST(owner_rows_changes_are_sampled_and_chosen_tokens_are_taken) {
  Request biased = request_of(5, 20);
  for (int32_t id = 0; id < kFakeVocab; id += 2) biased.sampling.logit_bias.push_back({id, -100.0f});
  Recorder expected;
  run_alone(biased, expected);
  FakeHarness harness({});
  Owner owner, chooser;
  REQUIRE_OK(harness.add(owned(request_of(5, 20)), 1, owner));
  answer_all(harness, owner, [](std::vector<float>& logits) {
    for (size_t id = 0; id < logits.size(); id += 2) logits[id] = -std::numeric_limits<float>::infinity();
    return -1;
  });
  CHECK(owner.tokens == expected.tokens);
  REQUIRE_OK(harness.add(owned(request_of(5, 20)), 2, chooser));
  answer_all(harness, chooser, [&](const auto&) { return chooser.token_index + 40; });
  for (int32_t i = 0; i < 20; ++i) CHECK_EQ(chooser.tokens.at(static_cast<size_t>(i)), i + 40);
  harness.check_all_free();
}

PAGODA_TEST(owner_rows_wait_without_delaying_other_requests) {
  const Request other = request_of(7, 40);
  Recorder alone, slow_alone;
  run_alone(other, alone);
  run_alone(request_of(8, 12), slow_alone);
  FakeHarness harness({});
  Owner owner;
  REQUIRE_OK(harness.add(owned(request_of(8, 12)), 1, owner));
  step_to_row(harness, owner);
  Recorder first, second;
  REQUIRE_OK(harness.add(other, 2, first));
  REQUIRE_OK(harness.add(other, 3, second));
  const int before = harness.model->num_steps;
  for (int i = 0; i < 10000 && !(first.finished && second.finished); ++i) harness.core->step();
  check_same(first, alone);
  check_same(second, alone);
  CHECK(harness.model->num_steps - before <= 42);
  CHECK_EQ(owner.num_rows.load(), 1);
  CHECK(!harness.core->waits_for_owners());
  harness.core->step();
  CHECK(harness.core->waits_for_owners() && harness.core->has_work());
  harness.core->answer_row(1, owner.token_index, owner.logits, -1);
  answer_all(harness, owner, [](const auto&) { return -1; });
  check_same(owner, slow_alone);
  harness.check_all_free();
}

PAGODA_TEST(owner_rows_of_ended_requests_and_late_answers_are_ignored) {
  FakeHarness harness({});
  Owner owner, next;
  REQUIRE_OK(harness.add(owned(request_of(9, 12)), 1, owner));
  step_to_row(harness, owner);
  harness.core->answer_row(1, owner.token_index + 1, owner.logits, 5);  // of another token
  CHECK(owner.tokens.empty());
  const std::vector<float> row = owner.logits;
  harness.core->answer_row(1, 0, row, 5);
  harness.core->answer_row(1, 0, row, 6);  // a second time
  step_to_row(harness, owner);
  CHECK(owner.tokens == std::vector<int32_t>{5});
  harness.core->cancel(1);
  CHECK(owner.reason == FinishReason::cancelled);
  harness.core->answer_row(1, 1, row, 5);
  CHECK(!harness.core->has_work() && !harness.core->waits_for_owners());
  Request stopped = request_of(9, 12);
  stopped.sampling.min_tokens = 3;
  stopped.sampling.stop_ids = {11};
  REQUIRE_OK(harness.add(owned(stopped), 2, next));
  step_to_row(harness, next);
  CHECK(std::isinf(next.logits.at(11)) && std::isfinite(next.logits.at(12)));
  harness.core->answer_row(2, 0, next.logits, 11);
  CHECK(next.reason == FinishReason::error && next.status.code == StatusCode::invalid_argument);
  Request embedded = owned(request_of(9, 1));
  embedded.pooling = Pooling::last;
  CHECK(harness.add(embedded, 3, next).code == StatusCode::invalid_argument);
  harness.check_all_free();
}

PAGODA_TEST(owner_rows_survive_preemption) {
  const test::Shape small{.num_blocks = 9, .max_num_seqs = 3};
  Recorder alone;
  run_alone(request_of(4, 60), alone);
  FakeHarness harness(small);
  Recorder others[2];
  for (uint64_t i = 0; i < 2; ++i) REQUIRE_OK(harness.add(request_of(20 + i, 60), 1 + i, others[i]));
  Owner owner;  // the newest, so the first to be preempted
  REQUIRE_OK(harness.add(owned(request_of(4, 60)), 3, owner));
  step_to_row(harness, owner);
  while (!(others[0].finished && others[1].finished)) harness.core->step();
  CHECK(harness.core->stats().num_preemptions > 0);
  harness.core->answer_row(3, owner.token_index, owner.logits, -1);
  answer_all(harness, owner, [](const auto&) { return -1; });
  check_same(owner, alone);
  harness.check_all_free();
}

PAGODA_TEST(owner_rows_are_answered_from_any_thread) {
  LoadedModel loaded;
  EngineLimits& sizes = loaded.core.limits;
  sizes.num_kv_blocks = sizes.max_blocks_per_seq = 64;
  sizes.num_state_slots = sizes.max_num_seqs = sizes.max_logits_rows = 4;
  sizes.max_num_tokens = 32;
  sizes.max_model_len = 1024;
  loaded.core.vocab_size = kFakeVocab;
  loaded.model = std::make_unique<test::FakeModel>(sizes, 16);
  auto engine = std::move(*EngineThread::start(std::move(loaded)));
  Owner owner;
  REQUIRE_OK(engine->submit(owned(request_of(2, 5)), &Recorder::on_event, static_cast<Recorder*>(&owner)).status);
  const auto wait_for_rows = [&](int count) {
    while (owner.num_rows < count) std::this_thread::yield();
  };
  wait_for_rows(1);
  const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  for (const float value : bad) {
    std::vector<float> logits(kFakeVocab, 0.0f);
    logits[3] = value;
    CHECK(engine->answer_row(owner.id, 0, logits, -1).code == StatusCode::invalid_argument);
  }
  const std::vector<float> nothing(kFakeVocab, -std::numeric_limits<float>::infinity()), zeros(kFakeVocab, 0.0f);
  CHECK(engine->answer_row(owner.id, 0, nothing, -1).code == StatusCode::invalid_argument);
  CHECK(engine->answer_row(owner.id, 0, std::span(zeros).first(3), 1).code == StatusCode::invalid_argument);
  CHECK(engine->answer_row(owner.id, 0, zeros, kFakeVocab).code == StatusCode::invalid_argument);
  for (int32_t i = 0; i < 4; ++i) {
    CHECK_OK(engine->answer_row(owner.id, i, zeros, 60 + i));
    wait_for_rows(i + 2);
  }
  engine->shut_down();  // while the owner has the last row
  CHECK(owner.finished && owner.reason == FinishReason::cancelled);
  CHECK(owner.tokens == (std::vector<int32_t>{60, 61, 62, 63}));
  CHECK(engine->answer_row(owner.id, 4, zeros, 1).code == StatusCode::shut_down);
}

}  // namespace pagoda::engine
