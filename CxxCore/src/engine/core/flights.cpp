// EngineCore: steps of a model on several machines. While one step is in flight in a later stage, the next starts with
// other sequences. Every stage runs steps in launch order, so an earlier step has read everything that a later one
// overwrites, including blocks and slots that were reassigned to another sequence.
#include <algorithm>
#include <exception>
#include <utility>

#include "engine/batch_builder.h"
#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

// Runs `work`; an exception becomes out_of_memory.
template <class Work>
static Status run_guarded(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::exception&) {
    return out_of_memory();
  }
}

void EngineCore::step_in_flight() noexcept {
  note_losses();
  const size_t limit = num_scored_requests_ > 0 ? 1 : flights_.size();
  while (num_flights_ < limit && launch_next()) {
  }
  publish_admissions();
  has_planned_ = num_flights_ > 0;
  if (num_flights_ > 0) land_oldest();
  publish_stats();
}

bool EngineCore::launch_next() noexcept {
  const Clock::time_point begin = Clock::now();
  const int32_t num_seqs = std::min(scheduler_.num_running() + scheduler_.num_waiting(), config_.limits.max_num_seqs);
  const int32_t num_steps = static_cast<int32_t>(flights_.size());
  Flight& flight = flights_[(first_flight_ + num_flights_) % flights_.size()];
  num_saves_done_ = 0;
  try {
    const int32_t max_rows = std::max(1, (num_seqs + num_steps - 1) / num_steps);
    flight.num_decoding = std::min(scheduler_.num_decoding(), max_rows);
    const scheduler::StepPlan& plan =
        scheduler_.schedule(budget_.max_tokens(scheduler_.num_decoding()), max_rows, now());
    if (plan.rows.empty()) return false;
    flight.plan = plan;
    build_batch(plan, config_.limits.block_size, config_.limits.max_blocks_per_seq, config_.limits.has_state(), batch_);
    find_scored_rows(plan);
  } catch (const std::exception&) {
    give_back_saves(scheduler_.plan(), nullptr);
    lose_all(out_of_memory());
    return false;
  }
  batch_.keeps_states = !scored_rows_.empty();
  flight.num_tokens = batch_.num_tokens();
  flight.launched = Clock::now();
  for (const scheduler::ScheduledSequence& row : flight.plan.rows) {
    ActiveRequest& request = *requests_.at(row.sequence->id);
    if (!request.first_scheduled) request.first_scheduled = flight.launched;
    row.sequence->is_in_flight = true;
  }
  ++num_flights_;
  ++num_steps_;
  plan_time_ += flight.launched - begin;
  const Status status = run_guarded([&] { return model_.launch(batch_); });
  if (!status.is_ok()) lose_all(status);
  return status.is_ok();
}

void EngineCore::land_oldest() noexcept {
  Flight& flight = flights_[first_flight_];
  Status status = run_guarded([&] { return model_.finish(); });
  if (!status.is_ok()) return lose_all(status);
  const Clock::time_point end = Clock::now();
  forward_time_ += end - flight.launched;
  budget_.note(flight.num_tokens, static_cast<int32_t>(flight.plan.rows.size()), seconds(end - flight.launched),
               flight.num_decoding);
  if (!scored_rows_.empty()) status = score();
  first_flight_ = (first_flight_ + 1) % flights_.size();
  --num_flights_;
  for (const scheduler::ScheduledSequence& row : flight.plan.rows) row.sequence->is_in_flight = false;
  num_saves_done_ = 0;
  if (status.is_ok()) commit(flight.plan);
  else fail_rows(flight.plan, status);
  sample_time_ += Clock::now() - end;
}

// The sequences stay marked as in flight: their cache contents are unreliable, and none of them are kept.
void EngineCore::drop_flights() noexcept {
  for (; num_flights_ > 0; --num_flights_) {
    (void)run_guarded([&] { return model_.finish(); });
    num_saves_done_ = 0;
    give_back_saves(flights_[first_flight_].plan, nullptr);
    first_flight_ = (first_flight_ + 1) % flights_.size();
  }
}

// A stage has lost its caches, which makes the caches of the others useless.
void EngineCore::lose_all(const Status& status) noexcept {
  const uint64_t num_losses = model_.num_losses();
  end_all(FinishReason::error, status);
  cache_.clear();
  num_losses_ = num_losses;
  model_.accept_losses(num_losses);
}

void EngineCore::note_losses() noexcept {
  if (model_.num_losses() == num_losses_) return;
  Status fault = run_guarded([&] { return model_.ready(); });  // names the stage, unless it is back already
  if (fault.is_ok())
    fault = run_guarded([] { return Status{StatusCode::device_error, "a stage of the pipeline was lost"}; });
  lose_all(fault);
}

Status EngineCore::ready() noexcept {
  if (flights_.empty()) return ok_status();
  note_losses();
  return run_guarded([&] { return model_.ready(); });
}

}  // namespace pagoda::engine
