// EngineCore: commits the rows of a step: tokens, accepted drafts, checkpoints, and the end of a request.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

using request::Sequence;

// If there is no memory for a row, its request ends; the others are not affected.
void EngineCore::commit(Flight& flight) noexcept {
  size_t logits_row = 0;
  sampler_.sample_ahead(flight.plan, requests_);
  for (const scheduler::ScheduledSequence& scheduled : flight.plan.sequences) {
    Sequence& sequence = *scheduled.sequence;
    sequence.num_computed_tokens += scheduled.num_tokens;
    sequence.has_fresh_slot = false;
    recorder_.add_computed(scheduled.num_tokens);
    const size_t own_row = logits_row;
    if (sequence.num_uncomputed() == 0) logits_row += static_cast<size_t>(1 + scheduled.num_drafts);
    try {
      commit_row(scheduled, own_row, flight);
    } catch (const std::exception&) {
      give_back_saves(flight, &sequence);
      finish(requests_.of(sequence), FinishReason::error, status_of_exception());
    }
  }
}

void EngineCore::commit_row(const scheduler::ScheduledSequence& scheduled, size_t logits_row, Flight& flight) {
  ActiveRequest& request = requests_.of(*scheduled.sequence);
  publish(*scheduled.sequence, flight);
  if (request.is_cancelled) return finish(request, FinishReason::cancelled, ok_status());
  if (request.score_end) {
    const FinishReason reason = request.score_end->is_ok() ? FinishReason::stop : FinishReason::error;
    return finish(request, reason, Status(*request.score_end));
  }
  const bool is_sampled = scheduled.sequence->num_uncomputed() == 0;
  if (is_sampled && request.is_pooled()) finish(request, FinishReason::stop, ok_status());
  else if (is_sampled) commit_tokens(request, scheduled.num_drafts, logits_row);
  else events_.add_progress(request);
}

// A row's own sample decides: the next row counts only if the sample equals the draft it was computed from.
void EngineCore::commit_tokens(ActiveRequest& request, int32_t num_drafts, size_t first_row) {
  Sequence& sequence = request.sequence;
  drafting_.note_verified(request, num_drafts);
  for (int32_t i = 0;; ++i) {
    const size_t row = first_row + static_cast<size_t>(i);
    if (!masks_.is_ready(request)) {
      drafting_.note_drafts(request, num_drafts, i);
      sequence.drafts.clear();
      return masks_.hold(request, sampler_.logits(row));
    }
    if (request.has_begun && request.document_position.must_end)
      return finish(request, FinishReason::stop, ok_status());  // only the mask, which is ready now, shows this
    if (request.row_callback && owners_.hand_out(request, sampler_.logits(row))) return;
    if (!commit_token(request, row)) return;
    if (i == num_drafts || sequence.tokens.back() != sequence.drafts[i]) {
      drafting_.note_drafts(request, num_drafts, i);
      return sequence.drafts.clear();
    }
    drafting_.note_accepted(request, i);
    ++sequence.num_computed_tokens;
    recorder_.add_computed(1);
    cache_.publish(sequence);
  }
}

bool EngineCore::commit_token(ActiveRequest& request, size_t logits_row, std::span<const float> held) {
  Status status = sampler_.sample(request, logits_row, held);
  if (!status.is_ok()) return finish(request, FinishReason::error, std::move(status)), false;
  const sampler::SampleOutput& sampled = sampler_.sampled();
  if (!request.first_token) request.first_token = Clock::now();
  request.sequence.tokens.push_back(sampled.token_id);
  request.count_output(sampled.token_id);
  const bool was_thinking = request.thinking.is_open();
  const bool is_last = masks_.accept(request, sampled.token_id);
  recorder_.add_generated();

  std::string& text = events_.new_text();
  const bool is_stop_id = std::ranges::find(request.stop_ids, sampled.token_id) != request.stop_ids.end();
  const bool is_thought = was_thinking || request.thinking.is_open();
  const bool may_stop = request.num_generated() >= request.params.min_tokens;
  const bool is_stop_string = !is_stop_id && request.text.push(sampled.token_id, is_thought, may_stop, text);
  events_.add_token(request, sampled);

  const bool is_stop = is_stop_id || is_stop_string || is_last;
  if (!is_stop && request.sequence.num_tokens() < request.sequence.max_num_tokens) return true;
  // The mask that decides whether the document has ended may not be ready yet.
  if (!is_stop && request.is_awaited && !request.document_position.is_ready()) {
    request.sequence.drafts.clear();
    request.sequence.is_held = true;
    return false;
  }
  finish(request, is_stop ? FinishReason::stop : FinishReason::length, ok_status());
  return false;
}

// Called when the mask of a late row has become ready.
void EngineCore::resume(ActiveRequest& request) noexcept {
  if (request.has_begun && request.document_position.must_end) return finish(request, FinishReason::stop, ok_status());
  if (!request.sequence.is_held || request.is_with_owner) return;
  if (request.held_logits.empty()) return finish(request, FinishReason::length, ok_status());
  const std::vector<float> logits = masks_.take_held(request);
  try {
    if (!owners_.hand_out(request, logits)) commit_token(request, 0, logits);
  } catch (const std::exception&) {
    finish(request, FinishReason::error, out_of_memory());
  }
}

void EngineCore::answer_row(uint64_t id, int32_t token_index, std::span<const float> logits,
                            int32_t token_id) noexcept {
  ActiveRequest* request = requests_.find(id);
  if (!request || !owners_.take_back(*request, token_index, token_id)) return;
  try {
    commit_token(*request, 0, logits);
  } catch (const std::exception&) {
    finish(*request, FinishReason::error, status_of_exception());
  }
}

// Saves are in the order of the rows.
void EngineCore::publish(Sequence& sequence, Flight& flight) {
  cache_.publish(sequence);
  const std::vector<scheduler::PlannedSave>& saves = flight.plan.saves;
  while (flight.num_saves_done < saves.size() && saves[flight.num_saves_done].sequence == &sequence) {
    const scheduler::PlannedSave& save = saves[flight.num_saves_done];
    const bool is_new = cache_.add_checkpoint(sequence, save.position, save.slot);
    ++flight.num_saves_done;
    if (is_new) restorer_.store(sequence, save.position);
  }
}

// Frees the slots reserved for the saves of `sequence`, which are next, or of all rows that are not committed yet.
void EngineCore::give_back_saves(Flight& flight, const Sequence* sequence) noexcept {
  for (; flight.num_saves_done < flight.plan.saves.size(); ++flight.num_saves_done) {
    const scheduler::PlannedSave& save = flight.plan.saves[flight.num_saves_done];
    if (sequence && save.sequence != sequence) return;
    cache_.give_back_slot(save.slot);
  }
}

// Sends the last event and destroys the request.
void EngineCore::finish(ActiveRequest& request, FinishReason reason, Status status) noexcept {
  Event event = EventWriter::finished(request, reason, std::move(status));
  const bool is_good = event.finish_reason != FinishReason::error && !request.sequence.is_in_flight;
  masks_.forget(request);
  owners_.forget(request);
  scorer_.forget(request);
  if (is_good) restorer_.leave(request.sequence);
  if (is_good) drafting_.end(request);
  if (!images_.erase(request.sequence.id)) scheduler_.remove(&request.sequence, is_good);
  const EventCallback callback = request.callback;
  void* context = request.context;
  requests_.erase(event.request_id);
  publish_stats();
  events_.add(callback, context, event);
}

}  // namespace pagoda::engine
