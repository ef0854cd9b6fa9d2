// EngineCore::step: plans, builds the batch, runs the model and commits. One loop for models on one machine, whose step
// ends before the next begins, and on several.
#include <algorithm>
#include <exception>
#include <utility>

#include "engine/batch_builder.h"
#include "engine/core/engine_core.h"
#include "engine/rows/pooled_states.h"
#include "engine/step_status.h"

namespace pagoda::engine {

using request::Sequence;

// Launches steps until as many are in flight as the model takes, one if it runs on one machine, and commits the oldest.
void EngineCore::step() noexcept {
  if (faults_.is_dead()) return end_all(FinishReason::error, faults_.fault());
  accept_losses();
  admit_images();
  if (!scheduler_.has_work()) return end_copies();
  const size_t max_flights = scorer_.has_requests() ? 1 : static_cast<size_t>(flights_.max_size());
  while (flights_.size() < max_flights && launch_next()) {
  }
  has_planned_ = !flights_.is_empty();
  if (has_planned_) land_oldest();
  else wait();
  publish_stats();
  if (!has_work()) events_.send_all();
}

void EngineCore::admit_images() noexcept {
  if (images_.num_waiting() == 0) return;
  images_.advance(scheduler_.has_work());
  while (ActiveRequest* request = images_.find_ready(requests_)) {
    Status status = status_of_images(*request);
    if (status.is_ok()) {
      try {
        scheduler_.add(&request->sequence, now());  // changes nothing if it throws
        images_.erase(request->sequence.id);
        continue;
      } catch (const std::exception&) {
        status = status_of_exception();
      }
    }
    finish(*request, FinishReason::error, std::move(status));
  }
  publish_stats();
}

bool EngineCore::launch_next() noexcept {
  Flight& flight = flights_.next();
  flight.begin = Clock::now();
  masks_.begin_wait(flight.begin);
  resume_settled();
  restorer_.advance(requests_);
  drafting_.draft(requests_);
  if (!plan(flight)) return false;
  restorer_.note_plan(requests_);
  if (flight.plan.sequences.empty()) return false;
  flight.status = build(flight);
  flight.launched = Clock::now();
  for (const scheduler::ScheduledSequence& scheduled : flight.plan.sequences) {
    ActiveRequest& request = requests_.of(*scheduled.sequence);
    if (!request.first_scheduled) request.first_scheduled = flight.launched;
    scheduled.sequence->is_in_flight = true;
  }
  flights_.push();
  flight.step_index = recorder_.note_launch(flight.launched - flight.begin);
  if (flight.status.is_ok()) flight.status = run_guarded([&] { return model_.launch(batch_); });
  if (flight.status.is_ok() || !flights_.overlap()) return true;
  lose_all(copy_of(flight.status));
  return false;
}

// At the start of a step: samples the tokens whose masks became ready since the last one.
void EngineCore::resume_settled() noexcept {
  for (uint64_t id : masks_.settle(requests_))
    if (ActiveRequest* request = requests_.find(id)) resume(*request);
}

// Without requests that could run: prefixes of some that have ended may still be on their way.
void EngineCore::end_copies() noexcept {
  events_.send_all();
  if (!restorer_.is_copying()) return;
  restorer_.advance(requests_);  // nothing waits
  restorer_.wait_for_any();
  publish_stats();
}

// False if there is no memory for a plan: its partial effects are unknown, so all requests end.
bool EngineCore::plan(Flight& flight) noexcept {
  flight.num_saves_done = 0;
  try {
    // Several flights share the sequences evenly.
    const int32_t num_seqs = std::min(scheduler_.num_running() + scheduler_.num_waiting(), config_.limits.max_num_seqs);
    const int32_t max_sequences = std::max(1, (num_seqs + flights_.max_size() - 1) / flights_.max_size());
    const int32_t num_decoding = scheduler_.num_decoding();
    flight.num_decoding = std::min(num_decoding, max_sequences);
    flight.plan = scheduler_.schedule(budget_.max_tokens(num_decoding), max_sequences, now());
    return true;
  } catch (const std::exception&) {
    for (const scheduler::PlannedSave& save : scheduler_.plan().saves) cache_.give_back_slot(save.slot);
    if (flights_.overlap()) lose_all(out_of_memory());
    else end_all(FinishReason::error, out_of_memory());
    return false;
  }
}

// Of a step without prompts: a sequence's rows complete a block only if it is the first of them.
static int32_t num_state_updates(const model::ForwardBatch& batch) noexcept {
  const auto completes_block = [&](int32_t first_row) {
    return (batch.positions[static_cast<size_t>(first_row)] + 1) % scheduler::kStateBlock == 0;
  };
  return static_cast<int32_t>(
      std::ranges::count_if(std::span(batch.cu_seqlens).first(static_cast<size_t>(batch.num_seqs())), completes_block));
}

Status EngineCore::build(Flight& flight) noexcept {
  const EngineLimits& limits = config_.limits;
  try {
    build_batch(flight.plan, limits.block_size, limits.max_blocks_per_seq, limits.has_state(), batch_);
    const int32_t num_drafts = flight.plan.num_drafts();
    flight.num_tokens = batch_.num_tokens();
    flight.num_decoding += num_drafts;
    flight.has_prompts = flight.num_tokens > batch_.num_seqs() + num_drafts;
    batch_.feeds_head = config_.uses_head;
    batch_.skips_head_rows = !flight.has_prompts && drafting_.skips_head();
    batch_.skips_head_states = batch_.skips_head_rows && drafting_.head_rests();
    const bool has_scores = scorer_.find_rows(flight.plan, requests_, batch_);
    batch_.keeps_states = has_scores || std::ranges::any_of(flight.plan.sequences, [this](const auto& scheduled) {
                            return requests_.of(*scheduled.sequence).is_pooled();
                          });
    if (!flights_.overlap()) sampler_.ask(flight.plan, requests_, batch_);
    flight.decode = {.num_sequences = batch_.num_seqs(),
                     .num_rows = flight.num_tokens,
                     .num_updates = limits.has_state() && !flight.has_prompts ? num_state_updates(batch_) : 0,
                     .feeds_head = batch_.feeds_head && !batch_.skips_head_rows,
                     .is_encoded = model_.launches_early()};
    return ok_status();
  } catch (const std::exception&) {
    return status_of_exception();
  }
}

// Called when no sequence can run.
void EngineCore::wait() noexcept {
  events_.send_all();
  const bool is_stuck = scheduler_.num_running() == 0 && scheduler_.num_waiting() > 0 && !masks_.is_waiting() &&
                        owners_.num_rows() == 0 && !restorer_.is_copying();
  if (is_stuck && prefixes_.unpin_oldest()) return;  // requests need its memory
  if (masks_.is_waiting()) masks_.wait_for_any();
  else restorer_.wait_for_any();
}

void EngineCore::land_oldest() noexcept {
  // Before a step sends events: a request counts as running when its first token arrives.
  if (scheduler_.num_running() != recorder_.num_published_running()) publish_stats();
  events_.send_all();  // of the previous step
  Flight& flight = flights_.oldest();
  Status status = finish_model(flight);
  if (!status.is_ok() && flights_.overlap()) return lose_all(status);
  const Clock::time_point end = Clock::now();
  if (status.is_ok()) status = scorer_.score(batch_);
  if (status.is_ok()) status = add_pooled_states(flight.plan, requests_, batch_, model_);
  faults_.note(status);
  flights_.pop();
  for (const scheduler::ScheduledSequence& scheduled : flight.plan.sequences) scheduled.sequence->is_in_flight = false;
  const bool is_watched = activity().is_open();
  StepRecord record = is_watched ? ActivityLog::describe(flight.plan) : StepRecord();
  const int64_t num_before = recorder_.num_generated_tokens();
  masks_.begin_wait(Clock::now());
  if (status.is_ok()) commit(flight);
  else fail_rows(flight, status);
  recorder_.note_commit(Clock::now() - end);
  flight.decode.num_tokens = static_cast<int32_t>(recorder_.num_generated_tokens() - num_before);
  record.seconds = flight.decode.seconds = seconds(Clock::now() - flight.begin);
  if (status.is_ok() && !flight.has_prompts) drafting_.note_step(flight.decode);
  else drafting_.note_break();
  record.step_index = flight.step_index;
  if (is_watched) activity().add_step(record);
}

Status EngineCore::finish_model(const Flight& flight) noexcept {
  if (!flight.status.is_ok()) return copy_of(flight.status);
  Status status = run_guarded([&] { return model_.finish(); });
  const Clock::duration time = Clock::now() - flight.launched;
  recorder_.note_forward(time);
  budget_.note(flight.num_tokens, static_cast<int32_t>(flight.plan.sequences.size()) + flight.plan.num_drafts(),
               seconds(time), flight.num_decoding);
  return status;
}

}  // namespace pagoda::engine
