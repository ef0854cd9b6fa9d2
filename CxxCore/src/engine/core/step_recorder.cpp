// StepRecorder: the statistics, replaced as a whole.
#include "engine/core/step_recorder.h"

#include <utility>

namespace pagoda::engine {

void StepRecorder::publish(EngineStats stats) noexcept {
  stats.num_steps = num_steps_;
  stats.num_computed_tokens = num_computed_tokens_;
  stats.num_generated_tokens = num_generated_tokens_;
  stats.plan_seconds = seconds(plan_time_);
  stats.forward_seconds = seconds(forward_time_);
  stats.sample_seconds = seconds(sample_time_);
  std::lock_guard lock(mutex_);
  stats_ = std::move(stats);
}

EngineStats StepRecorder::read() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace pagoda::engine
