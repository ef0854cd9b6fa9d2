// EngineCore: steps that fail. On one machine the sequences of the step end; on several, a stage that has lost its
// caches makes those of the others useless, and all requests end.
#include <exception>
#include <utility>

#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

// After a failed step the caches of its sequences are unreliable, so these sequences end; the others continue.
void EngineCore::fail_rows(Flight& flight, const Status& status) noexcept {
  give_back_saves(flight, nullptr);
  for (const scheduler::ScheduledSequence& scheduled : flight.plan.sequences) {
    Status own = copy_of(status);
    // Errors of the request were reported when it was submitted; this one is an engine error.
    if (own.code == StatusCode::invalid_argument || own.code == StatusCode::unsupported)
      own.code = StatusCode::internal;
    finish(requests_.of(*scheduled.sequence), FinishReason::error, std::move(own));
  }
}

// The sequences stay marked as in flight: their cache contents are unreliable, and none of them are kept.
void EngineCore::drop_flights() noexcept {
  while (!flights_.is_empty()) {
    (void)run_guarded([&] { return model_.finish(); });
    give_back_saves(flights_.oldest(), nullptr);
    flights_.pop();
  }
}

void EngineCore::lose_all(const Status& status) noexcept {
  const uint64_t num_losses = model_.num_losses();
  end_all(FinishReason::error, status);
  cache_.clear();
  num_losses_ = num_losses;
  model_.accept_losses(num_losses);
}

void EngineCore::accept_losses() noexcept {
  if (model_.num_losses() == num_losses_) return;
  Status fault = run_guarded([&] { return model_.ready(); });  // names the stage, unless it is back already
  if (fault.is_ok())
    fault = run_guarded([] { return Status{StatusCode::device_error, "a stage of the pipeline was lost"}; });
  lose_all(fault);
}

Status EngineCore::ready() noexcept {
  if (!flights_.overlap()) return ok_status();
  accept_losses();
  return run_guarded([&] { return model_.ready(); });
}

}  // namespace pagoda::engine
