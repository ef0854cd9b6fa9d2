// Requests that share a prefix which is not cached: one computes it, the others follow, whatever happens to the first.
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/fake_harness.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::Recorder;
using test::Shape;

constexpr int32_t kShared = 320, kOwn = 24;

// Requests with kShared common tokens and kOwn of their own.
struct Group {
  FakeHarness harness;
  std::mt19937_64 rng{1};
  std::vector<Request> requests;
  std::vector<std::unique_ptr<Recorder>> answers;

  explicit Group(const Shape& shape, size_t count, int32_t num_shared = kShared) : harness(shape) {
    const std::vector<int32_t> shared = tokens(num_shared);
    for (size_t i = 0; i < count; ++i) {
      std::vector<int32_t> own = tokens(kOwn);
      own.front() = static_cast<int32_t>(i);  // they share no more
      Request request;
      request.prompt_ids = shared;
      request.prompt_ids.insert(request.prompt_ids.end(), own.begin(), own.end());
      add(std::move(request));
    }
  }

  std::vector<int32_t> tokens(int32_t count) {
    std::vector<int32_t> list(static_cast<size_t>(count));
    for (int32_t& token : list) token = static_cast<int32_t>(rng() % test::kFakeVocab);
    return list;
  }

  void add(Request request) {
    request.sampling.max_tokens = request.sampling.max_tokens > 0 ? request.sampling.max_tokens : 4;
    request.sampling.temperature = 0;
    request.sampling.ignore_eos = true;
    answers.push_back(std::make_unique<Recorder>());
    requests.push_back(std::move(request));
    CHECK_OK(harness.add(requests.back(), requests.size(), *answers.back()));
  }

  void step(int count) {
    for (int i = 0; i < count; ++i) harness.core->step();
  }

  // All but the first `num_lost` have the tokens that they have alone.
  void check_answers(const Shape& shape, size_t num_lost = 0) {
    for (size_t i = num_lost; i < requests.size(); ++i) {
      FakeHarness alone(shape);
      Recorder expected;
      CHECK_OK(alone.add(requests[i], 1, expected));
      alone.run();
      CHECK(answers[i]->tokens == expected.tokens && answers[i]->finished.load());
    }
  }
};

Shape shape_of(bool has_state) {
  return {.num_blocks = 512,
          .max_num_seqs = 8,
          .max_num_tokens = 32,
          .has_state = has_state,
          .max_checkpoints = has_state ? 16 : 0};
}

int64_t num_computed(const Group& group) { return group.harness.core->stats().num_computed_tokens; }

}  // namespace

PAGODA_TEST(engine_requests_at_once_compute_what_they_share_once) {
  for (const bool has_state : {false, true}) {
    Group group(shape_of(has_state), 20);
    group.harness.run();
    group.check_answers(shape_of(has_state));
    CHECK_EQ(num_computed(group), kShared + 20 * (kOwn + 3));
  }
}

PAGODA_TEST(engine_a_follower_leads_when_the_leader_is_cancelled) {
  for (const bool has_state : {false, true}) {
    Group group(shape_of(has_state), 20);
    group.step(6);  // 192 tokens of the prefix
    CHECK_EQ(group.harness.core->stats().num_running, 1);
    group.harness.core->cancel(1);
    group.harness.run();
    group.check_answers(shape_of(has_state), 1);
    CHECK(num_computed(group) <= 192 + kShared + 19 * (kOwn + 3));  // the second leader may begin anew, no other does
  }
}

PAGODA_TEST(engine_a_follower_leads_when_the_step_of_the_leader_fails) {
  for (const bool has_state : {false, true}) {
    Group group(shape_of(has_state), 20);
    group.harness.model->fail_at_step = 5;
    group.harness.run();
    CHECK(group.answers[0]->reason == FinishReason::error);
    group.check_answers(shape_of(has_state), 1);
    CHECK(num_computed(group) <= 160 + kShared + 19 * (kOwn + 3));
  }
}

PAGODA_TEST(engine_followers_run_when_the_leader_is_preempted) {
  Shape shape = shape_of(true);
  shape.num_blocks = 29;
  shape.max_num_tokens = 9;
  Group group(shape, 0);
  Request older;
  older.prompt_ids = group.tokens(100);
  older.sampling.max_tokens = 300;
  group.add(older);
  group.step(14);  // it answers now, and needs ever more blocks
  const std::vector<int32_t> shared = group.tokens(kShared);
  for (int i = 0; i < 4; ++i) {
    Request request;
    request.prompt_ids = shared;
    request.prompt_ids.push_back(i);
    group.add(request);
  }
  group.harness.run();
  CHECK(group.harness.core->stats().num_preemptions > 0);
  group.check_answers(shape);
}

PAGODA_TEST(engine_requests_that_share_too_little_do_not_wait) {
  for (const bool has_state : {false, true}) {
    Group group(shape_of(has_state), 4, /*num_shared=*/12);
    group.step(2);
    CHECK(group.harness.core->stats().num_running >= 2);
  }
}

// Followers are no candidates: however many there are, others are found behind them.
PAGODA_TEST(engine_followers_do_not_hold_up_others) {
  Group group(shape_of(true), 20);
  group.step(1);
  Request other;
  other.prompt_ids = group.tokens(kShared + kOwn + 40);  // longer than all of them
  other.share_id = "other";
  group.add(other);
  group.step(4);
  CHECK_EQ(group.harness.core->stats().num_running, 2);
  group.harness.run();
  group.check_answers(shape_of(true));
}

}  // namespace pagoda::engine
