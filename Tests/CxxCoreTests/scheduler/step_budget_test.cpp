// StepBudget with a simulated clock: steps stay within their time once the device is measured, and use it fully.
#include "scheduler/step_budget.h"

#include <algorithm>
#include <random>

#include "support/test.h"

namespace pagoda::scheduler {
namespace {

constexpr double kBudget = 0.1;

StepTimes times(double max_seconds) { return {.max_seconds = max_seconds, .max_decode_seconds = -1}; }

// A device that takes `fixed` seconds per step and `each` per token; returns the budget after `steps` full steps.
int32_t settled(StepBudget& budget, double fixed, double each, int steps) {
  for (int i = 0; i < steps; ++i) budget.note(budget.max_tokens(), 1, fixed + each * budget.max_tokens());
  return budget.max_tokens();
}

}  // namespace

PAGODA_TEST(step_budget_leaves_devices_alone_that_have_the_time) {
  StepBudget budget(times(0), 256);
  CHECK_EQ(budget.max_tokens(), 256);
  budget.note(256, 1, 100);
  CHECK_EQ(budget.max_tokens(), 256);
}

PAGODA_TEST(step_budget_finds_what_fits_the_time) {
  for (const double rate : {300.0, 1000.0, 3000.0, 20000.0}) {
    StepBudget budget(times(kBudget), 4096);
    CHECK_EQ(budget.max_tokens(), 64);
    const int32_t tokens = settled(budget, 0, 1 / rate, 12);
    CHECK_EQ(tokens % 32, 0);
    CHECK(tokens <= rate * kBudget || tokens == 32);
    CHECK(tokens > rate * kBudget - 33);
  }
  StepBudget small(times(kBudget), 50);  // the configuration's own limit applies
  CHECK_EQ(small.max_tokens(), 50);
  CHECK_EQ(settled(small, 0, 1e-6, 5), 32);
  StepBudget tiny(times(kBudget), 20);
  CHECK_EQ(settled(tiny, 0, 1.0, 5), 20);
}

// Metal's limit is a second, because its steps are cut into parts: 600 prompt tokens a second fill steps of 512.
PAGODA_TEST(step_budget_of_a_second_reaches_whole_steps) {
  StepBudget budget(times(1.0), 512);
  CHECK_EQ(settled(budget, 0.01, 1.0 / 600, 4), 512);
}

PAGODA_TEST(step_budget_follows_a_device_that_changes) {
  StepBudget budget(times(kBudget), 2048);
  CHECK_EQ(settled(budget, 0, 1e-4, 12), 992);  // 1000, in multiples of 32
  CHECK_EQ(settled(budget, 0, 1e-3, 12), 96);   // the context grew, or another program uses the GPU
  CHECK_EQ(settled(budget, 0, 1e-4, 12), 992);
  budget.note(992, 1, 5.0);  // a step that compiled kernels
  CHECK_EQ(budget.max_tokens(), 32);
  CHECK(settled(budget, 0, 1e-4, 12) >= 960);
}

PAGODA_TEST(step_budget_learns_from_prompts_alone) {
  StepBudget budget(times(kBudget), 2048);
  const int32_t tokens = settled(budget, 0.01, 1e-4, 20);
  for (int i = 0; i < 50; ++i) budget.note(16, 16, 0.02);  // decoding: one token each
  CHECK_EQ(budget.max_tokens(), tokens);
  budget.note(0, 0, 0);
  budget.note(100, 1, 0);  // a clock that stood still
  CHECK_EQ(budget.max_tokens(), tokens);
}

PAGODA_TEST(step_budget_never_leaves_its_bounds) {
  std::mt19937_64 random(test::seed(17));
  StepBudget budget(times(kBudget), 700);
  for (int i = 0; i < 10000; ++i) {
    const double seconds = std::uniform_real_distribution<double>(0, random() % 2 ? 10 : 1e-6)(random);
    const int32_t before = budget.max_tokens();
    budget.note(1 + static_cast<int32_t>(random() % 700), 1, seconds);
    CHECK(budget.max_tokens() >= 32 && budget.max_tokens() <= 700);
    CHECK(budget.max_tokens() <= 2 * before);
  }
}

// Prompts are read next to `num_decoding` sequences, in steps whose time is `seconds` of their tokens. Returns the
// budget at the end, and the share of steps that took longer than `limit`.
struct Beside {
  int32_t tokens = 0;
  double share_above = 0;
};

template <class Seconds>
static Beside read_beside(StepBudget& budget, int32_t num_decoding, int num_steps, double limit, Seconds&& seconds) {
  int num_above = 0;
  for (int i = 0; i < num_steps; ++i) {
    const int32_t tokens = budget.max_tokens(num_decoding);
    num_above += seconds(tokens) > limit;
    budget.note(tokens, num_decoding + 1, seconds(tokens), num_decoding);
  }
  return {budget.max_tokens(num_decoding), static_cast<double>(num_above) / num_steps};
}

// A machine that reads weights in 40 ms and computes a token in 3 ms: with prompts next to decodes, steps take at most
// twice as long as a plain one, except for a few that try more, and are as large as that allows.
PAGODA_TEST(step_budget_keeps_the_gap_between_tokens_near_that_of_plain_decodes) {
  const auto seconds = [](int32_t tokens) { return std::max(0.040, 0.003 * tokens); };
  StepBudget budget({}, 256);
  CHECK_EQ(budget.max_tokens(0), 256);  // no sequence is decoding
  CHECK_EQ(budget.max_tokens(1), 25);   // nothing is measured yet
  for (int i = 0; i < 4; ++i) budget.note(256, 1, seconds(256));
  for (int i = 0; i < 4; ++i) budget.note(1, 1, seconds(1));
  const Beside beside = read_beside(budget, 1, 400, 2 * seconds(1), seconds);
  CHECK(beside.share_above < 0.05);
  CHECK_EQ(beside.tokens, 25);  // 0.075 s; 33 would take 0.099
  CHECK_EQ(budget.max_tokens(0), 256);
}

// The first tokens of a prompt next to a decode cost half a step more, the others little: a rate learned from 8 of them
// would predict that no more fit.
PAGODA_TEST(step_budget_is_not_misled_by_what_the_first_tokens_cost) {
  const auto seconds = [](int32_t tokens) { return tokens == 1 ? 0.027 : 0.040 + 0.0001 * tokens; };
  StepBudget budget({}, 256);
  for (int i = 0; i < 4; ++i) budget.note(1, 1, seconds(1));
  for (int i = 0; i < 8; ++i) budget.note(9, 2, 1.0, 1);  // something else ran
  CHECK_EQ(budget.max_tokens(1), 9);
  const Beside beside = read_beside(budget, 1, 400, 2 * seconds(1), seconds);
  CHECK(beside.tokens >= 90 && seconds(beside.tokens) <= 2 * seconds(1));  // 113 take 0.0513
  CHECK(beside.share_above < 0.05);
}

// Steps with prompts always take too long: a few tokens are still reserved for prompts.
PAGODA_TEST(step_budget_leaves_tokens_for_prompts_beside_many_decodes) {
  for (const double limit : {0.0, 0.020}) {
    StepBudget budget({.max_decode_seconds = limit}, 256);
    for (int i = 0; i < 4; ++i) budget.note(1, 1, 0.027);
    read_beside(budget, 1, 40, 0, [](int32_t tokens) { return 0.5 + 0.002 * tokens; });
    for (int32_t n = 1; n <= 256; ++n) CHECK(budget.max_tokens(n) >= std::min(256, n + 8));
    CHECK_EQ(budget.max_tokens(1), 9);
  }
}

// Reading weights takes 25 ms, a token 0.7 ms: a single disturbed step changes nothing, and two of them make
// only the next steps smaller.
PAGODA_TEST(step_budget_recovers_from_a_slow_step_beside_decodes) {
  const auto seconds = [](int32_t tokens) { return 0.025 + 0.0007 * tokens; };
  StepBudget budget({}, 256);
  for (int i = 0; i < 4; ++i) budget.note(256, 1, seconds(256));
  for (int i = 0; i < 4; ++i) budget.note(1, 1, seconds(1));
  CHECK_EQ(read_beside(budget, 1, 100, 0, seconds).tokens, 33);  // 0.048 s, of 0.0488
  budget.note(33, 2, 1.0, 1);
  CHECK_EQ(read_beside(budget, 1, 20, 0, seconds).tokens, 33);
  for (int i = 0; i < 2; ++i) budget.note(33, 2, 1.0, 1);
  CHECK_EQ(budget.max_tokens(1), 25);
  CHECK_EQ(read_beside(budget, 1, 300, 0, seconds).tokens, 33);
}

PAGODA_TEST(step_budget_obeys_a_time_for_steps_that_decode) {
  for (const double limit : {0.010, 0.050, 0.2, 10.0}) {
    StepBudget budget({.max_seconds = 1, .max_decode_seconds = limit}, 512);
    for (int i = 0; i < 12; ++i) budget.note(budget.max_tokens(0), 1, 0.001 * budget.max_tokens(0));
    CHECK_EQ(budget.max_tokens(0), 512);
    const Beside beside = read_beside(budget, 3, 400, limit, [](int32_t tokens) { return 0.001 * tokens; });
    const int32_t most = std::clamp(static_cast<int32_t>(limit * 1000), 3 + 8, 512);
    CHECK(beside.tokens <= most && beside.tokens >= std::min(most, most * 3 / 4));
    if (limit > 0.011) CHECK(beside.share_above < 0.05);
  }
  StepBudget off({.max_decode_seconds = -1}, 512);
  off.note(512, 1, 100);
  CHECK_EQ(off.max_tokens(5), 512);
}

}  // namespace pagoda::scheduler
