// StepBudget against a made-up clock: steps stay within their time once the device is known, and use what they have.
#include "scheduler/step_budget.h"

#include <algorithm>
#include <random>

#include "support/test.h"

namespace pagoda::scheduler {
namespace {

constexpr double kBudget = 0.1;

StepTimes times(double max_seconds) { return {.max_seconds = max_seconds, .max_decode_seconds = -1}; }

// A device that takes `fixed` seconds for a step and `each` for a token; the budget after `steps` full steps on it.
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
  StepBudget small(times(kBudget), 50);  // the configuration's own limit holds
  CHECK_EQ(small.max_tokens(), 50);
  CHECK_EQ(settled(small, 0, 1e-6, 5), 32);
  StepBudget tiny(times(kBudget), 20);
  CHECK_EQ(settled(tiny, 0, 1.0, 5), 20);
}

PAGODA_TEST(step_budget_follows_a_device_that_changes) {
  StepBudget budget(times(kBudget), 2048);
  CHECK_EQ(settled(budget, 0, 1e-4, 12), 992);  // 1000, in multiples of 32
  CHECK_EQ(settled(budget, 0, 1e-3, 12), 96);   // the context grew, or another draws
  CHECK_EQ(settled(budget, 0, 1e-4, 12), 992);
  budget.note(992, 1, 5.0);  // a step that compiled kernels
  CHECK_EQ(budget.max_tokens(), 32);
  CHECK(settled(budget, 0, 1e-4, 12) >= 960);
}

PAGODA_TEST(step_budget_learns_from_prompts_alone) {
  StepBudget budget(times(kBudget), 2048);
  const int32_t tokens = settled(budget, 0.01, 1e-4, 20);
  for (int i = 0; i < 50; ++i) budget.note(16, 16, 0.02);  // decoding: a token each
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

// A machine that reads weights in 40 ms and computes a token in 3: what is read beside decodes makes steps of at most
// twice a plain one, and as large as that allows.
PAGODA_TEST(step_budget_keeps_the_gap_between_tokens_near_that_of_plain_decodes) {
  const auto seconds = [](int32_t tokens) { return std::max(0.040, 0.003 * tokens); };
  StepBudget budget({}, 256);
  CHECK_EQ(budget.max_tokens(0), 256);  // none waits
  CHECK_EQ(budget.max_tokens(1), 32);   // nothing is known
  for (int i = 0; i < 4; ++i) budget.note(256, 1, seconds(256));
  for (int i = 0; i < 4; ++i) budget.note(1, 1, seconds(1));
  for (int i = 0; i < 20; ++i) {
    const int32_t tokens = budget.max_tokens(1);
    CHECK(seconds(tokens) <= 2 * seconds(1));
    budget.note(tokens, 2, seconds(tokens));
  }
  CHECK_EQ(budget.max_tokens(1), 24);
  CHECK_EQ(budget.max_tokens(0), 256);
}

// One sequence decoded alone, and prompts were slow: when many decode, what a step may have is not used up by them.
PAGODA_TEST(step_budget_leaves_tokens_for_prompts_beside_many_decodes) {
  for (const double limit : {0.0, 0.020}) {
    StepBudget budget({.max_decode_seconds = limit}, 256);
    for (int i = 0; i < 4; ++i) budget.note(1, 1, 0.027);
    for (int i = 0; i < 8; ++i) budget.note(256, 1, 256 * 0.002);
    for (int32_t n = 1; n <= 256; ++n) CHECK(budget.max_tokens(n) >= std::min(256, n + 8));
    CHECK_EQ(budget.max_tokens(1), 9);
  }
  // 31 that decode would take 27 ms and 2 ms for each of 30 more; a step with prompts may take nearly twice that.
  StepBudget budget({}, 256);
  budget.note(1, 1, 0.027);
  budget.note(256, 1, 256 * 0.002);
  CHECK_EQ(budget.max_tokens(31), 64);
}

// Reading weights takes 25 ms, a token 0.7: a step in which something else ran makes the next ones small, not all.
PAGODA_TEST(step_budget_recovers_from_a_slow_step_beside_decodes) {
  const auto seconds = [](int32_t tokens) { return 0.025 + 0.0007 * tokens; };
  StepBudget budget({}, 256);
  for (int i = 0; i < 4; ++i) budget.note(256, 1, seconds(256));
  for (int i = 0; i < 4; ++i) budget.note(1, 1, seconds(1));
  const auto run = [&] {
    for (int i = 0; i < 12; ++i) budget.note(budget.max_tokens(1), 2, seconds(budget.max_tokens(1)));
    return budget.max_tokens(1);
  };
  CHECK_EQ(run(), 24);
  budget.note(24, 2, 1.0);
  CHECK_EQ(budget.max_tokens(1), 9);
  CHECK_EQ(run(), 24);
}

PAGODA_TEST(step_budget_obeys_a_time_for_steps_that_decode) {
  for (const double limit : {0.010, 0.050, 0.2, 10.0}) {
    StepBudget budget({.max_seconds = 1, .max_decode_seconds = limit}, 512);
    for (int i = 0; i < 12; ++i) budget.note(budget.max_tokens(0), 1, 0.001 * budget.max_tokens(0));
    CHECK_EQ(budget.max_tokens(0), 512);
    CHECK_EQ(budget.max_tokens(3), std::clamp(static_cast<int32_t>(limit * 1000) / 8 * 8, 3 + 8, 512));
  }
  StepBudget off({.max_decode_seconds = -1}, 512);
  off.note(512, 1, 100);
  CHECK_EQ(off.max_tokens(5), 512);
}

}  // namespace pagoda::scheduler
