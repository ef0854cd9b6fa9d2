// StepRecorder: counts steps and tokens, times the phases of steps, and publishes the engine's statistics and activity.
// Thread rule: the engine's thread, except read() and activity(), which belong to any.
#pragma once

#include <cstdint>
#include <mutex>

#include "engine/active_request.h"
#include "engine/activity_log.h"
#include "pagoda/statistics.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

class StepRecorder {
 public:
  // Returns the number of steps so far.
  int64_t note_launch(Clock::duration planning) noexcept { return plan_time_ += planning, ++num_steps_; }
  void note_forward(Clock::duration time) noexcept { forward_time_ += time; }
  void note_commit(Clock::duration time) noexcept { sample_time_ += time; }
  void add_computed(int64_t num_tokens) noexcept { num_computed_tokens_ += num_tokens; }
  void add_generated() noexcept { ++num_generated_tokens_; }
  int64_t num_generated_tokens() const noexcept { return num_generated_tokens_; }

  // `stats` has the fields of all others; adds its own.
  void publish(EngineStats stats) noexcept;
  int32_t num_published_running() const noexcept { return stats_.num_running; }  // only this thread writes stats_
  EngineStats read() const;

  ActivityLog& activity() noexcept { return activity_; }  // as current as the stats, while watched

 private:
  int64_t num_steps_ = 0, num_computed_tokens_ = 0, num_generated_tokens_ = 0;
  Clock::duration plan_time_{}, forward_time_{}, sample_time_{};
  ActivityLog activity_;
  mutable std::mutex mutex_;
  EngineStats stats_;  // guarded by mutex_
};

}  // namespace pagoda::engine
