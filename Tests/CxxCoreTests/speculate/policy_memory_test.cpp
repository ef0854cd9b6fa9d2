// What a policy keeps for the next process: drafts from the first steps on, any damage refused, and a machine that has
// changed learned again within the allowed loss.
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "speculate/policy.h"
#include "support/test.h"

namespace pagoda::speculate {
namespace {

struct Machine {
  double plain = 1, row = 0.05;  // seconds of a step, and of each row after the first
  double first = 1;              // factor of the first step of some rows, which finds cold memory
};

struct Outcome {
  double seconds = 0, plain_seconds = 0;
  int64_t num_drafted = 0;
  int first_draft = -1;  // index of the step
  double lost_steps(const Machine& machine) const { return (seconds - plain_seconds) / machine.plain; }
};

// One sequence with a lookup in every step.
Outcome run(Policy& policy, const Machine& machine, double chance, int num_steps, uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto uniform = [&] { return static_cast<double>(rng() >> 11) * 0x1p-53; };
  Acceptance history;
  Outcome outcome;
  std::vector<bool> is_warm(16);
  for (int step = 0; step < num_steps; ++step) {
    Offer offer{.source = Source::lookup, .match_length = 4, .num_drafts = 7, .history = &history};
    policy.admit({&offer, 1}, 1);
    int32_t held = 0;
    while (held < offer.num_admitted && uniform() < chance) ++held;
    if (offer.num_admitted > 0) policy.note_drafts(offer, held, history);
    if (offer.num_admitted > 0 && outcome.first_draft < 0) outcome.first_draft = step;
    outcome.num_drafted += offer.num_admitted;
    const double factor = is_warm[static_cast<size_t>(offer.num_admitted)] ? 1 : machine.first;
    is_warm[static_cast<size_t>(offer.num_admitted)] = true;
    const double seconds = (machine.plain + machine.row * offer.num_admitted) * factor * (0.95 + 0.1 * uniform());
    policy.note_step(
        {.num_sequences = 1, .num_rows = 1 + offer.num_admitted, .num_tokens = 1 + held, .seconds = seconds});
    outcome.seconds += (machine.plain + machine.row * offer.num_admitted) * factor;
    outcome.plain_seconds += machine.plain * (1 + held);
  }
  return outcome;
}

std::string learned(const Machine& machine, double chance) {
  Policy policy;
  run(policy, machine, chance, 400, test::seed(100));
  return policy.memory();
}

}  // namespace

PAGODA_TEST(policy_memory_drafts_in_the_first_step_what_paid_before) {
  const Machine machine{.first = 3};
  const std::string memory = learned(machine, 0.8);
  const uint64_t first_seed = test::seed(101);
  double cold_gain = 0, warm_gain = 0;
  constexpr uint64_t kNumStarts = 50;
  for (uint64_t start = 0; start < kNumStarts; ++start) {
    Policy cold, warm;
    REQUIRE(warm.recall(memory));
    const uint64_t seed = first_seed + start;
    const Outcome first = run(cold, machine, 0.8, 30, seed), again = run(warm, machine, 0.8, 30, seed);
    CHECK_EQ(again.first_draft, 0);
    CHECK(first.first_draft > 0);
    cold_gain += first.plain_seconds / first.seconds / kNumStarts;
    warm_gain += again.plain_seconds / again.seconds / kNumStarts;
  }
  test::note(std::to_string(cold_gain) + "x cold, " + std::to_string(warm_gain) + "x warm");
  CHECK(warm_gain > 1.05 * cold_gain);
}

// Half of what a process may lose is granted to every start: ten processes of 60 steps each.
PAGODA_TEST(policy_memory_loses_less_at_every_start) {
  const Machine machine{.plain = 1, .row = 0.3};
  std::string memory = learned(machine, 0.0);
  double cold_loss = 0, warm_loss = 0;
  const uint64_t first_seed = test::seed(102);
  for (uint64_t start = 0; start < 10; ++start) {
    Policy cold, warm;
    REQUIRE(warm.recall(memory));
    cold_loss += run(cold, machine, 0.0, 60, first_seed + start).lost_steps(machine);
    warm_loss += run(warm, machine, 0.0, 60, first_seed + start).lost_steps(machine);
    memory = warm.memory();
  }
  test::note(std::to_string(warm_loss) + " steps of 600, " + std::to_string(cold_loss) + " without a memory");
  CHECK(warm_loss < 0.7 * cold_loss);
}

// What a busy machine made look bad is tried again: the head's and all other drafts.
PAGODA_TEST(policy_memory_of_a_busy_machine_is_corrected) {
  Policy policy;
  REQUIRE(policy.recall(learned({.plain = 1, .row = 0.9}, 0.2)));
  const Machine machine;
  const Outcome outcome = run(policy, machine, 0.9, 200, test::seed(106));
  test::note(std::to_string(outcome.plain_seconds / outcome.seconds) + "x");
  CHECK(outcome.plain_seconds / outcome.seconds > 1.5);
}

// The old machine took a hundred times as long or as short, and its drafts held. Here no draft holds, and rows cost.
PAGODA_TEST(policy_memory_of_another_machine_stops_wrong_drafts_within_the_account) {
  const Machine machine{.plain = 1, .row = 0.3};
  for (const double factor : {0.01, 1.0, 100.0}) {
    Policy policy;
    REQUIRE(policy.recall(learned({.plain = factor, .row = 0.02 * factor}, 0.95)));
    const Outcome outcome = run(policy, machine, 0.0, 1500, test::seed(103));
    const Outcome later = run(policy, machine, 0.0, 1500, test::seed(107));
    test::note(std::to_string(factor) + ": " + std::to_string(outcome.lost_steps(machine)) + " steps, " +
               std::to_string(outcome.num_drafted) + " drafts, then " + std::to_string(later.lost_steps(machine)));
    CHECK(outcome.lost_steps(machine) < 20);  // two steps of each number of rows may have an old cost
    CHECK(later.lost_steps(machine) < 0.005 * 1500);
    CHECK(outcome.num_drafted > 0);
  }
}

// A machine that has become slower: what is measured outweighs what was recalled.
PAGODA_TEST(policy_memory_is_outweighed_by_what_is_measured) {
  Policy policy;
  REQUIRE(policy.recall(learned({.plain = 1, .row = 0.9}, 0.9)));  // drafts did not pay
  const Machine machine{.plain = 2, .row = 0.05};
  run(policy, machine, 0.9, 400, test::seed(104));
  const Outcome later = run(policy, machine, 0.9, 400, test::seed(105));
  test::note(std::to_string(later.plain_seconds / later.seconds) + "x");
  CHECK(later.plain_seconds / later.seconds > 2);
}

PAGODA_TEST(policy_memory_refuses_damaged_foreign_and_newer_bytes) {
  const std::string memory = learned({}, 0.8);
  test::note(std::to_string(memory.size()) + " bytes");
  CHECK(memory.size() < 8192);
  const auto is_refused = [](const std::string& bytes) {
    Policy policy;
    const std::string before = policy.memory();
    return !policy.recall(bytes) && policy.memory() == before;
  };
  CHECK(is_refused("") && is_refused("usual\n") && is_refused(memory + "x"));
  for (size_t size = 0; size < memory.size(); ++size) CHECK(is_refused(memory.substr(0, size)));
  for (size_t i = 0; i < memory.size(); ++i) {
    std::string damaged = memory;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    CHECK(is_refused(damaged));
  }
  std::string newer = memory;
  newer[newer.find('1')] = '2';
  CHECK(is_refused(newer));
}

// With a checksum that fits: numbers that no policy writes.
PAGODA_TEST(policy_memory_refuses_numbers_out_of_range) {
  const std::string memory = learned({}, 0.8);
  const size_t head = Policy::kMemoryMagic.size(), numbers = head + sizeof(uint64_t);
  for (size_t at = numbers; at < memory.size(); at += sizeof(float))
    for (const float value : {-2.0f, 1e30f, std::numeric_limits<float>::quiet_NaN()}) {
      std::string bytes = memory;
      std::memcpy(bytes.data() + at, &value, sizeof value);
      const uint64_t sum = checksum(std::as_bytes(std::span(bytes).subspan(numbers)));
      std::memcpy(bytes.data() + head, &sum, sizeof sum);
      Policy policy;
      const bool is_account = value == -2.0f;  // a loss is the only number that may be below -1
      CHECK(!policy.recall(bytes) || is_account);
    }
}

}  // namespace pagoda::speculate
