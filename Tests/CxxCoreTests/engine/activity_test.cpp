// activity: a watch sees each request wait, read, answer and be preempted; without a watch nothing is recorded.
#include <memory>
#include <vector>

#include "cache/block_manager.h"
#include "cache/prefix_cache.h"
#include "cache/state_pool.h"
#include "engine/activity_log.h"
#include "engine/fake_harness.h"
#include "scheduler/scheduler.h"
#include "support/allocations.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

using test::FakeHarness;
using test::kFakeVocab;
using test::Recorder;
using test::Shape;

Request request_of(int num_tokens, int num_generated, int salt) {
  Request request;
  for (int i = 0; i < num_tokens; ++i) request.prompt_ids.push_back((i * 7 + salt) % kFakeVocab);
  request.sampling.max_tokens = num_generated;
  return request;
}

const Lane* find(const Activity& activity, uint64_t id) {
  for (const Lane& lane : activity.lanes)
    if (lane.request_id == id) return &lane;
  return nullptr;
}

PAGODA_TEST(activity_shows_a_request_wait_read_and_answer) {
  FakeHarness harness({.max_num_seqs = 1, .max_num_tokens = 16});
  ActivityLog& log = harness.core->activity();
  log.open();
  Recorder first, second;
  CHECK_OK(harness.add(request_of(40, 3, 0), 1, first));
  CHECK_OK(harness.add(request_of(60, 3, 1), 2, second));
  CHECK(find(log.read(), 1)->state == LaneState::waiting);
  harness.core->step();
  const Activity reading = log.read();
  CHECK_EQ(reading.lanes.size(), size_t{2});
  CHECK(reading.lanes[0].request_id == 1 && reading.lanes[0].state == LaneState::reading);
  CHECK_EQ(reading.lanes[0].num_prompt_tokens, 40);
  CHECK_EQ(reading.lanes[0].num_computed_tokens, 16);
  CHECK(reading.lanes[1].request_id == 2 && reading.lanes[1].state == LaneState::waiting);
  harness.core->step();
  harness.core->step();
  const Activity answering = log.read();
  CHECK(answering.lanes[0].state == LaneState::answering);
  CHECK_EQ(answering.lanes[0].num_generated_tokens, 1);
  CHECK_EQ(answering.lanes[0].max_generated_tokens, 3);
  harness.core->step();
  const Activity before_end = log.read();
  CHECK_EQ(before_end.steps.size(), size_t{4});
  const std::vector<int32_t> expected_reads = {16, 16, 8, 0};
  for (size_t i = 0; i < 4; ++i) {
    CHECK_EQ(before_end.steps[i].step_index, static_cast<int64_t>(i + 1));
    CHECK_EQ(before_end.steps[i].num_read_tokens, expected_reads[i]);
    CHECK_EQ(before_end.steps[i].num_answering, i == 3 ? 1 : 0);
  }
  harness.run();
  CHECK(log.read().lanes.empty());
  log.close();
}

PAGODA_TEST(activity_shows_preemption) {
  FakeHarness harness({.num_blocks = 4, .max_num_seqs = 2, .max_num_tokens = 64});
  ActivityLog& log = harness.core->activity();
  log.open();
  Recorder first, second;
  CHECK_OK(harness.add(request_of(20, 40, 0), 1, first));
  CHECK_OK(harness.add(request_of(20, 40, 1), 2, second));
  bool was_preempted = false, read_again = false;
  for (int i = 0; i < 1000 && harness.core->has_work(); ++i) {
    harness.core->step();
    const Activity activity = log.read();
    const Lane* lane = find(activity, 2);
    if (!lane) continue;
    if (lane->state == LaneState::preempted) {
      CHECK(lane->num_preemptions > 0);
      if (!was_preempted) CHECK_EQ(activity.steps.back().num_preempted, 1);
      was_preempted = true;
    }
    if (was_preempted && lane->state == LaneState::answering) read_again = true;
  }
  CHECK(was_preempted && read_again);
  CHECK(first.finished && second.finished);
}

PAGODA_TEST(activity_without_a_watch_keeps_nothing_and_a_new_watch_begins_anew) {
  FakeHarness harness({.max_num_seqs = 2});
  ActivityLog& log = harness.core->activity();
  Recorder recorders[3];
  CHECK_OK(harness.add(request_of(10, 5, 0), 1, recorders[0]));
  harness.core->step();
  CHECK(log.read().lanes.empty() && log.read().steps.empty());
  log.open();
  log.open();
  log.close();
  harness.core->step();
  CHECK_EQ(log.read().lanes.size(), size_t{1});
  CHECK_EQ(log.read().steps.size(), size_t{1});
  log.close();
  harness.run();
  CHECK_EQ(log.read().steps.size(), size_t{1});
  log.open();
  CHECK(log.read().lanes.empty() && log.read().steps.empty());
}

PAGODA_TEST(activity_keeps_the_last_steps_and_a_bounded_number_of_lanes) {
  FakeHarness harness({.num_blocks = 512, .max_num_seqs = 2});
  ActivityLog& log = harness.core->activity();
  log.open();
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (int i = 0; i < kMaxLanes + 10; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    CHECK_OK(harness.add(request_of(4, 12, i), static_cast<uint64_t>(i + 1), *recorders.back()));
  }
  CHECK_EQ(log.read().lanes.size(), static_cast<size_t>(kMaxLanes));
  harness.run();
  const Activity activity = log.read();
  CHECK_EQ(activity.steps.size(), static_cast<size_t>(kMaxStepRecords));
  CHECK_EQ(activity.steps.back().step_index, harness.core->stats().num_steps);
  for (size_t i = 1; i < activity.steps.size(); ++i)
    CHECK_EQ(activity.steps[i].step_index, activity.steps[i - 1].step_index + 1);
}

PAGODA_TEST(activity_costs_no_allocation_in_a_step) {
  cache::BlockManager blocks(64, 16);
  cache::StatePool states(2);
  cache::PrefixCache cache(blocks, states, /*has_state=*/true, /*max_checkpoints=*/0);
  scheduler::Scheduler scheduler(
      {.num_state_slots = 2, .max_num_tokens = 512, .max_num_seqs = 2, .max_model_len = 1024}, blocks, states, cache);
  std::vector<request::Sequence> sequences(kMaxLanes + 10);
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i].id = i + 1;
    sequences[i].tokens = {1, 2, 3};
    sequences[i].num_prompt_tokens = 3;
    sequences[i].max_num_tokens = 8;
    scheduler.add(&sequences[i]);
  }
  const scheduler::StepPlan& plan = scheduler.schedule();
  CHECK_EQ(plan.sequences.size(), size_t{2});
  ActivityLog log;
  log.open();
  {
    test::FailingAllocation failing(0);
    for (int i = 0; i < 3 * kMaxStepRecords; ++i) {
      log.add_step(ActivityLog::describe(plan));
      log.set_lanes(scheduler);
    }
    CHECK(!test::FailingAllocation::has_failed());
  }
  const Activity activity = log.read();
  CHECK_EQ(activity.lanes.size(), static_cast<size_t>(kMaxLanes));
  CHECK_EQ(activity.steps.back().num_read_tokens, 6);
  for (request::Sequence& sequence : sequences) scheduler.remove(&sequence, /*is_good=*/false);
}

}  // namespace
}  // namespace pagoda::engine
