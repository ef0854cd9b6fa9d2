// ActivityLog: copies the state of each sequence after a step, and keeps a ring of step records.
#include "engine/activity_log.h"

#include <algorithm>

namespace pagoda::engine {

using request::Sequence;
using request::SequenceState;

void ActivityLog::open() {
  std::lock_guard lock(mutex_);
  if (num_watches_.load(std::memory_order_relaxed) == 0) {  // records of an earlier watch are outdated
    lanes_.clear();
    records_.clear();
    next_record_ = 0;
  }
  lanes_.reserve(kMaxLanes);
  records_.reserve(kMaxStepRecords);
  num_watches_.fetch_add(1, std::memory_order_relaxed);
}

void ActivityLog::close() noexcept {
  std::lock_guard lock(mutex_);
  num_watches_.fetch_sub(1, std::memory_order_relaxed);
}

Activity ActivityLog::read() const {
  std::lock_guard lock(mutex_);
  Activity activity{.lanes = lanes_, .steps = {}};
  activity.steps.reserve(records_.size());
  const auto oldest = records_.begin() + static_cast<std::ptrdiff_t>(next_record_);
  activity.steps.insert(activity.steps.end(), oldest, records_.end());
  activity.steps.insert(activity.steps.end(), records_.begin(), oldest);
  return activity;
}

// A row that computes the last token so far, after the whole prompt, is answering; any other row is reading.
static bool is_answering(const Sequence& sequence) noexcept {
  return sequence.num_tokens() > sequence.num_prompt_tokens && sequence.num_uncomputed() <= 1;
}

StepRecord ActivityLog::describe(const scheduler::StepPlan& plan) noexcept {
  StepRecord record;
  for (const scheduler::ScheduledSequence& scheduled : plan.sequences) {
    if (is_answering(*scheduled.sequence)) ++record.num_answering;
    else record.num_read_tokens += scheduled.num_tokens;
  }
  record.num_drafts = plan.num_drafts();
  record.num_preempted = static_cast<int32_t>(plan.preempted.size());
  return record;
}

void ActivityLog::add_step(const StepRecord& record) noexcept {
  std::lock_guard lock(mutex_);
  if (records_.size() < kMaxStepRecords) return records_.push_back(record);  // reserved by open()
  records_[next_record_] = record;
  next_record_ = (next_record_ + 1) % kMaxStepRecords;
}

void ActivityLog::set_lanes(const scheduler::Scheduler& scheduler) noexcept {
  if (!is_open()) return;
  std::lock_guard lock(mutex_);
  lanes_.clear();
  for (const Sequence* sequence : scheduler.running()) add_lane(*sequence);
  for (const Sequence* sequence : scheduler.waiting()) add_lane(*sequence);
}

void ActivityLog::add_lane(const Sequence& sequence) noexcept {
  if (lanes_.size() == kMaxLanes) return;
  LaneState state = is_answering(sequence) ? LaneState::answering : LaneState::reading;
  if (sequence.state != SequenceState::running)
    state = sequence.num_preemptions > 0 ? LaneState::preempted : LaneState::waiting;
  lanes_.push_back({.request_id = sequence.id,
                    .state = state,
                    .num_prompt_tokens = sequence.num_prompt_tokens,
                    .num_cached_tokens = sequence.num_cached_tokens,
                    .num_computed_tokens = sequence.num_computed_tokens,
                    .num_generated_tokens = sequence.num_tokens() - sequence.num_prompt_tokens,
                    .max_generated_tokens = sequence.max_num_tokens - sequence.num_prompt_tokens,
                    .num_preemptions = sequence.num_preemptions});
}

}  // namespace pagoda::engine
