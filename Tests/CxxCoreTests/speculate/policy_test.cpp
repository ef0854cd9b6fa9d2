// Policy with simulated machines and texts: it takes profitable drafts, and loses little if none are.
#include "speculate/policy.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/test.h"

namespace pagoda::speculate {
namespace {

struct Machine {
  double row_cost;         // seconds per additional row; a plain step takes one second
  double update_cost = 0;  // seconds per update of a recurrent state, after every sixteenth token; 0: no such state

  double seconds(int32_t num_rows) const { return 1 + row_cost * (num_rows - 1); }
};

struct Outcome {
  double seconds = 0;  // without updates and noise, which are the same with and without drafts
  int64_t num_tokens = 0, num_drafted = 0;

  double speed_up(const Machine& machine, int32_t num_sequences) const {
    return static_cast<double>(num_tokens) / num_sequences * machine.seconds(num_sequences) / seconds;
  }
};

enum class Noise { little, busy };

// Sequences whose drafts are accepted with a probability. Step times vary by a tenth, or as on a busy machine: by a
// fifth, with three steps in a hundred that take up to four times as long.
Outcome simulate(const Machine& machine, double chance, int32_t num_sequences, int num_steps, uint64_t seed,
                 Noise noise = Noise::little) {
  std::mt19937_64 rng(seed);
  const auto uniform = [&] { return static_cast<double>(rng() >> 11) * 0x1p-53; };
  const auto factor = [&] {
    if (noise == Noise::little) return 0.95 + 0.1 * uniform();
    const double delay = uniform() < 0.03 ? 3 * uniform() : 0;
    return 0.9 + 0.3 * uniform() * uniform() + delay;
  };
  Policy policy;
  std::vector<Acceptance> histories(static_cast<size_t>(num_sequences));
  std::vector<int32_t> lengths(histories.size());
  Outcome outcome;
  for (int step = 0; step < num_steps; ++step) {
    std::vector<Offer> offers;
    int32_t num_rows = num_sequences, num_tokens = num_sequences, num_updates = 0;
    for (size_t i = 0; i < histories.size(); ++i) {
      const int32_t left = machine.update_cost > 0 ? 14 - lengths[i] % 16 : kMaxPositions;  // in the block
      num_updates += left < 0;
      offers.push_back({.source = Source::lookup,
                        .match_length = 8,
                        .num_drafts = left < 0 ? kMaxPositions : left,
                        .history = &histories[i]});
    }
    policy.admit(offers, num_sequences);
    for (size_t i = 0; i < offers.size(); ++i) {
      int32_t held = 0;
      while (held < offers[i].num_admitted && uniform() < chance) ++held;
      if (offers[i].num_admitted > 0) policy.note_drafts(offers[i], held, histories[i]);
      num_rows += offers[i].num_admitted;
      num_tokens += held;
      lengths[i] += 1 + held;
      outcome.num_drafted += offers[i].num_admitted;
    }
    policy.note_step({.num_sequences = num_sequences,
                      .num_rows = num_rows,
                      .num_tokens = num_tokens,
                      .num_updates = num_updates,
                      .seconds = (machine.seconds(num_rows) + machine.update_cost * num_updates) * factor()});
    outcome.seconds += machine.seconds(num_rows);
    outcome.num_tokens += num_tokens;
  }
  return outcome;
}

}  // namespace

PAGODA_TEST(policy_takes_drafts_that_hold) {
  const Machine machine{0.08};
  const double certain = simulate(machine, 1.0, 1, 600, test::seed(70)).speed_up(machine, 1);
  const double likely = simulate(machine, 0.8, 1, 600, test::seed(71)).speed_up(machine, 1);
  test::note(std::to_string(certain) + "x when all hold, " + std::to_string(likely) + "x when four of five do");
  CHECK(certain > 6.0);  // 16 / 2.2 at best; with 7 drafts 8 / 1.56
  CHECK(likely > 2.2);
}

PAGODA_TEST(policy_loses_a_hundredth_at_most) {
  for (const double row_cost : {0.02, 0.1, 0.3, 0.8})
    for (const int32_t num_sequences : {1, 4, 16}) {
      const Machine machine{row_cost};
      const Outcome outcome = simulate(machine, 0.0, num_sequences, 1500, test::seed(72));
      const double speed_up = outcome.speed_up(machine, num_sequences);
      if (speed_up < 0.985) test::note(std::to_string(row_cost) + " " + std::to_string(num_sequences));
      CHECK(speed_up >= 0.985);
    }
}

// With their time in the cost of rows, steps with many drafts would seem to take 2.5 to 3.4 seconds instead of 2.
PAGODA_TEST(policy_takes_drafts_that_hold_beside_state_updates) {
  for (const int32_t num_sequences : {1, 16}) {
    const Machine machine{.row_cost = 0.08 / num_sequences, .update_cost = 2.0 / num_sequences};
    const double speed_up =
        simulate(machine, 1.0, num_sequences, 600, test::seed(76), Noise::busy).speed_up(machine, num_sequences);
    const double loss =
        simulate(machine, 0.0, num_sequences, 1500, test::seed(77), Noise::busy).speed_up(machine, num_sequences);
    test::note(std::to_string(speed_up) + "x, " + std::to_string(loss) + "x when no draft holds");
    CHECK(speed_up > 3);
    CHECK(loss >= 0.985);
  }
}

// Drafts that seem likely and never hold, in steps of a microsecond. The first one updates a state, so its cost is not
// known: counted as a second, it would allow the loss of thousands of steps.
PAGODA_TEST(policy_bounds_the_loss_from_the_first_step_on) {
  Policy policy;
  int32_t num_drafted = 0;
  for (int step = 0; step < 300; ++step) {
    Offer offer{.source = Source::lookup, .match_length = 16, .num_drafts = 1};
    policy.admit({&offer, 1}, 1);
    num_drafted += offer.num_admitted;
    const int32_t num_updates = step % 16 == 0;
    policy.note_step({.num_sequences = 1,
                      .num_rows = 1 + offer.num_admitted,
                      .num_tokens = 1,
                      .num_updates = num_updates,
                      .seconds = 1e-6 * (1 + 0.3 * offer.num_admitted + 2 * num_updates)});
  }
  test::note(std::to_string(num_drafted) + " drafts");
  CHECK(num_drafted > 0 && num_drafted < 30);
}

// Costs that were means of step times lost 2 to 5 % here.
PAGODA_TEST(policy_loses_a_hundredth_at_most_on_a_busy_machine) {
  for (const double row_cost : {0.02, 0.06, 0.3})
    for (const int32_t num_sequences : {1, 16})
      for (const double chance : {0.0, 0.05}) {
        const Machine machine{row_cost};
        double sum = 0;
        for (uint64_t i = 0; i < 8; ++i)
          sum += simulate(machine, chance, num_sequences, 1500, test::seed(80 + i), Noise::busy)
                     .speed_up(machine, num_sequences);
        test::note(std::to_string(row_cost) + " " + std::to_string(num_sequences) + ": " + std::to_string(sum / 8));
        CHECK(sum / 8 >= 0.99);
      }
}

PAGODA_TEST(policy_drafts_less_the_more_sequences_there_are) {
  const Machine machine{0.25};  // a fully loaded machine: rows cost nearly as much as they gain
  const Outcome alone = simulate(machine, 0.6, 1, 600, test::seed(73));
  const Outcome crowd = simulate(machine, 0.6, 16, 600, test::seed(74));
  CHECK(alone.speed_up(machine, 1) > 1.1);
  CHECK(crowd.speed_up(machine, 16) > 0.985);
  CHECK(static_cast<double>(crowd.num_drafted) / 16 < 0.5 * static_cast<double>(alone.num_drafted));
}

// One draft takes one step of the head: 1.6 tokens in 1.35 steps are a gain, in 1.65 they would not be.
PAGODA_TEST(policy_counts_one_draft_step_for_one_draft) {
  Policy policy;
  for (int i = 0; i < 8; ++i) policy.note_step({.num_sequences = 1, .num_rows = 1, .num_tokens = 1, .seconds = 1.0});
  policy.note_step({.num_sequences = 1,
                    .num_rows = 2,
                    .num_tokens = 1,
                    .seconds = 1.35,
                    .draft_seconds = 0.3,
                    .num_draft_steps = 1});
  const Acceptance history;
  Offer offer{.source = Source::mtp, .num_drafts = 1, .history = &history};
  policy.admit({&offer, 1}, 1);
  CHECK_EQ(offer.num_admitted, 1);
}

// Steps of sequences with a head whose drafts are accepted with a probability. A plain step takes a second, the head's
// work `feeding` more, a draft step a tenth. Returns the speed-up over plain steps without the head.
static double draft_with_head(Policy& policy, double chance, double feeding, int32_t num_sequences, int num_steps) {
  std::mt19937_64 rng(test::seed(75));
  const auto uniform = [&] { return static_cast<double>(rng() >> 11) * 0x1p-53; };
  std::vector<Acceptance> histories(static_cast<size_t>(num_sequences));
  double seconds = 0, tokens = 0;
  for (int step = 0; step < num_steps; ++step) {
    std::vector<Offer> offers;
    if (!policy.head_rests())
      for (Acceptance& history : histories)
        offers.push_back({.source = Source::mtp, .num_drafts = 3, .history = &history});
    policy.admit(offers, num_sequences);
    int32_t num_rows = num_sequences, num_tokens = num_sequences, deepest = 0;
    for (size_t i = 0; i < offers.size(); ++i) {
      int32_t held = 0;
      while (held < offers[i].num_admitted && uniform() < chance) ++held;
      if (offers[i].num_admitted > 0) policy.note_drafts(offers[i], held, histories[i]);
      num_rows += offers[i].num_admitted;
      num_tokens += held;
      deepest = std::max(deepest, offers[i].num_admitted);
    }
    const double draft_seconds = 0.1 * deepest;
    const double taken =
        (1 + 0.1 * (num_rows - num_sequences) + (policy.wants_head() ? feeding : 0)) * (0.95 + 0.1 * uniform()) +
        draft_seconds;
    policy.note_step({.num_sequences = num_sequences,
                      .num_rows = num_rows,
                      .num_tokens = num_tokens,
                      .seconds = taken,
                      .draft_seconds = draft_seconds,
                      .num_draft_steps = deepest,
                      .feeds_head = policy.wants_head()});
    seconds += taken;
    tokens += static_cast<double>(num_tokens) / num_sequences;
  }
  return tokens / seconds;
}

PAGODA_TEST(policy_lets_a_head_rest_that_does_not_earn_its_work) {
  Policy policy;
  CHECK(policy.wants_head() && !policy.head_rests());
  const double first = draft_with_head(policy, 0.0, 0.05, 16, 1500);  // it is tried again after 1900
  CHECK(policy.head_rests() && !policy.wants_head());
  const double later = draft_with_head(policy, 0.0, 0.05, 16, 4000);
  test::note(std::to_string(first) + "x, then " + std::to_string(later) + "x");
  CHECK(first >= 0.98 && later >= 0.985);  // 0.95 if it worked in every step
}

PAGODA_TEST(policy_keeps_a_head_whose_drafts_hold) {
  Policy policy;
  draft_with_head(policy, 0.0, 0.05, 16, 2000);  // irrelevant for a single sequence
  const double speed_up = draft_with_head(policy, 0.95, 0.05, 1, 600);
  CHECK(!policy.head_rests());
  test::note(std::to_string(speed_up) + "x");
  CHECK(speed_up > 1.8);  // 3.7 tokens in 1.65 seconds at best
}

}  // namespace pagoda::speculate
