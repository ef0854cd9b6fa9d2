// scheduler: bounds on waiting in time, across classes and shares, and counts that follow the cache.
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/scheduler_harness.h"

namespace pagoda::scheduler {
namespace {

constexpr double kStep = 0.1;  // seconds

// A step, before which requests of an urgent class arrive: more than it can read.
const StepPlan& flooded_step(Harness& harness, int32_t priority = -1, const std::string& share_id = "flood") {
  for (int i = 0; i < 4; ++i) harness.add(40, 1, priority, share_id);
  harness.now += kStep;
  return harness.scheduler.schedule(INT32_MAX, INT32_MAX, harness.now);
}

}  // namespace

PAGODA_TEST(scheduler_bounds_the_waiting_of_a_class_that_a_more_urgent_one_floods) {
  Harness harness(4096, 16, limits(4, 64));
  harness.commit(flooded_step(harness));
  Sequence* victim = harness.add(400, 4, 0, "other");
  const uint64_t id = victim->id;
  double admitted = -1;
  while (harness.alive.contains(id) && harness.now < 60 && !test::failed()) {
    const StepPlan& plan = flooded_step(harness);
    if (admitted < 0 && victim->state == SequenceState::running) admitted = harness.now;
    harness.commit(plan);
  }
  CHECK(admitted > 0 && admitted <= kMaxWaitSeconds + 2);
  CHECK(!harness.alive.contains(id));  // read, too: the flood does not take all tokens
}

PAGODA_TEST(scheduler_reads_a_prompt_on_while_a_more_urgent_class_floods) {
  Harness harness(4096, 16, limits(4, 64));
  const uint64_t id = harness.add(1000, 4, 0, "other")->id;
  harness.commit(harness.scheduler.schedule());  // it is being read
  while (harness.alive.contains(id) && harness.now < 60 && !test::failed()) harness.commit(flooded_step(harness));
  CHECK(!harness.alive.contains(id));
}

// Otherwise the classes would mean nothing as soon as all have to wait for long.
PAGODA_TEST(scheduler_lets_one_overdue_sequence_of_a_share_pass_at_a_time) {
  Harness harness(8192, 16, limits(4, 64));
  std::vector<Sequence*> late;
  for (int i = 0; i < 100; ++i) late.push_back(harness.add(40, 1000, 5, "batch"));
  int32_t num_admitted = 0;
  while (harness.now < 5 * kMaxWaitSeconds && !test::failed()) {
    harness.commit(flooded_step(harness, 0));
    num_admitted = 0;
    for (const Sequence* sequence : late) num_admitted += sequence->state == SequenceState::running;
    if (num_admitted == 3) break;  // the last of four places is the flood's
  }
  CHECK(num_admitted >= 2 && harness.now >= num_admitted * kMaxWaitSeconds);
}

PAGODA_TEST(scheduler_takes_the_first_arrival_of_each_share_when_it_has_waited_too_long) {
  Harness harness(4096, 16, limits(2, 32));
  const uint64_t first = harness.add(900, 1, 0, "a")->id;  // shorter ones of the same share pass it
  const uint64_t other = harness.add(900, 1, 3, "b")->id;
  while ((harness.alive.contains(first) || harness.alive.contains(other)) && harness.now < 120 && !test::failed())
    harness.commit(flooded_step(harness, 0, "a"));
  CHECK(!harness.alive.contains(first) && !harness.alive.contains(other));
}

// Steps until a sequence has ended or a minute has passed.
void run_until_gone(Harness& harness, uint64_t id) {
  const double end = harness.now + 60;
  while (harness.alive.contains(id) && harness.now < end && !test::failed()) {
    harness.now += kStep;
    const StepPlan& plan = harness.scheduler.schedule(INT32_MAX, INT32_MAX, harness.now);
    harness.check_plan(plan);
    harness.commit(plan);
    harness.check_accounts();
  }
}

PAGODA_TEST(scheduler_gives_a_share_that_runs_nothing_one_of_several_places_of_another) {
  Harness harness(4096, 16, limits(4, 64));
  for (int i = 0; i < 8; ++i) harness.add(40, 3000, 0, "long");  // each takes minutes
  const Sequence* first = harness.alive.begin()->second.get();
  for (int i = 0; i < 20; ++i) harness.commit(harness.scheduler.schedule());
  CHECK_EQ(harness.scheduler.num_running(), 4);
  const uint64_t id = harness.add(40, 4, 5, "other")->id;
  run_until_gone(harness, id);
  CHECK(!harness.alive.contains(id) && harness.now <= kMaxWaitSeconds + 2);
  CHECK_EQ(harness.scheduler.num_preemptions(), 1);
  CHECK(first->state == SequenceState::running && first->num_preemptions == 0);
}

PAGODA_TEST(scheduler_gives_a_share_that_runs_nothing_the_blocks_of_another) {
  Harness harness(64, 16, limits(8, 64));
  for (int i = 0; i < 8; ++i) harness.add(150, 800, 0, "long");  // four or five of them fill the pool
  for (int i = 0; i < 40; ++i) harness.commit(harness.scheduler.schedule());
  const uint64_t id = harness.add(500, 4, 0, "other")->id;
  run_until_gone(harness, id);
  CHECK(!harness.alive.contains(id) && harness.now <= kMaxWaitSeconds + 5);
}

// Otherwise the ones that give their places would take them back at once.
PAGODA_TEST(scheduler_gives_a_share_that_runs_nothing_a_place_of_sequences_that_waited_long) {
  Harness harness(4096, 16, limits(2, 64));
  for (int i = 0; i < 4; ++i) harness.add(40, 3000, 0, "long");
  for (int i = 0; i < 20; ++i) harness.commit(harness.scheduler.schedule());
  for (Sequence* sequence : harness.scheduler.running()) sequence->is_overdue = true;
  const uint64_t id = harness.add(40, 4, 0, "other")->id;
  run_until_gone(harness, id);
  CHECK(!harness.alive.contains(id) && harness.now <= kMaxWaitSeconds + 2);
  CHECK_EQ(harness.scheduler.num_preemptions(), 1);
}

PAGODA_TEST(scheduler_takes_no_place_of_a_share_that_runs_one_sequence) {
  Harness harness(4096, 16, limits(4, 64));
  for (int i = 0; i < 5; ++i) harness.add(40, 3000, 0, std::string(1, static_cast<char>('a' + i)));
  run_until_gone(harness, 1);
  CHECK(harness.now >= 60 && harness.scheduler.num_preemptions() == 0);
}

// What arrived before the prefix was cached has as little left to read as what arrives after it.
PAGODA_TEST(scheduler_counts_waiting_sequences_again_when_prefixes_are_cached) {
  Harness harness(256, 16, limits(1, 64, false));
  const auto add_cached = [&](int num_own) {
    auto sequence = std::make_unique<Sequence>();
    sequence->id = harness.next_id++;
    sequence->tokens.assign(160, 1);
    sequence->tokens.resize(160 + static_cast<size_t>(num_own), 1 + static_cast<int32_t>(sequence->id));
    sequence->num_prompt_tokens = sequence->num_tokens();
    sequence->max_num_tokens = sequence->num_tokens() + 1;
    sequence->uses_cache = true;
    Sequence* raw = sequence.get();
    harness.alive.emplace(raw->id, std::move(sequence));
    harness.scheduler.add(raw);
    return raw;
  };
  add_cached(8);
  Sequence* waiting = add_cached(8);
  CHECK_EQ(waiting->num_to_compute, 168);
  for (int i = 0; i < 3; ++i) harness.commit(harness.scheduler.schedule());
  const StepPlan& last = harness.scheduler.schedule();  // after it is committed, the sequence is gone
  CHECK(waiting->num_to_compute <= 8);
  harness.commit(last);
}

}  // namespace pagoda::scheduler
