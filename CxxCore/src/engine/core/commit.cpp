// EngineCore: commits the rows of a step: tokens, accepted drafts, checkpoints, events, and the end of a request.
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

using request::Sequence;

// If there is no memory for a row, its request ends; the others are not affected.
void EngineCore::commit(const scheduler::StepPlan& plan) noexcept {
  size_t logits_row = 0;
  sample_ahead(plan);
  for (const scheduler::ScheduledSequence& row : plan.rows) {
    Sequence& sequence = *row.sequence;
    sequence.num_computed_tokens += row.num_tokens;
    sequence.has_fresh_slot = false;
    num_computed_tokens_ += row.num_tokens;
    ActiveRequest& request = *requests_.at(sequence.id);
    const bool is_sampled = sequence.num_uncomputed() == 0;
    const size_t own_row = logits_row;
    if (is_sampled) logits_row += static_cast<size_t>(1 + row.num_drafts);
    try {
      publish(sequence, plan);
      if (request.is_cancelled) {
        finish(request, FinishReason::cancelled, ok_status());
        continue;
      }
      if (request.score_end) {
        const FinishReason reason = request.score_end->is_ok() ? FinishReason::stop : FinishReason::error;
        finish(request, reason, Status(*request.score_end));
        continue;
      }
      if (is_sampled && request.is_pooled()) finish(request, FinishReason::stop, ok_status());
      else if (is_sampled) commit_tokens(request, row.num_drafts, own_row);
      else report_progress(request);
    } catch (const std::exception&) {
      give_back_saves(plan, &sequence);
      finish(request, FinishReason::error, status_of_exception());
    }
  }
}

void EngineCore::report_progress(ActiveRequest& request) {
  if (request.progress_interval_ms < 0) return;
  const Clock::time_point now = Clock::now();
  if (!request.is_progress_due(now)) return;
  request.last_progress = now;
  event_.text.clear();
  event_.request_id = request.sequence.id;
  event_.kind = EventKind::prompt_progress;
  event_.token_id = -1;
  event_.has_logprob = false;
  event_.top_logprobs.clear();
  event_.finish_reason = FinishReason::none;
  event_.num_read_tokens = std::min(request.sequence.num_computed_tokens, request.sequence.num_prompt_tokens);
  event_.usage = request.usage();
  event_.timings = request.timings(now);
  outbox_.add(request.callback, request.context, event_);
  event_.num_read_tokens = 0;  // token events leave these fields alone
  event_.usage = {};
  event_.timings = {};
}

// A row's own sample decides: the next row counts only if the sample equals the draft it was computed from.
void EngineCore::commit_tokens(ActiveRequest& request, int32_t num_drafts, size_t logits_row) {
  Sequence& sequence = request.sequence;
  request.num_drafted += num_drafts;
  speculation_.num_draft_steps += num_drafts > 0;
  speculation_.num_drafted_tokens += num_drafts;
  for (int32_t i = 0;; ++i) {
    if (!has_mask(request)) {
      note_drafts(request, num_drafts, i);
      sequence.drafts.clear();
      return hold_row(request, logits_row + static_cast<size_t>(i));
    }
    if (request.has_begun && request.document_position.must_end)
      return finish(request, FinishReason::stop, ok_status());  // only the mask, which is ready now, shows this
    const size_t row = logits_row + static_cast<size_t>(i), vocab = static_cast<size_t>(config_.vocab_size);
    if (request.row_callback && hand_out_row(request, model_.logits().subspan(row * vocab, vocab))) return;
    if (!commit_token(request, row)) return;
    if (i == num_drafts || sequence.tokens.back() != sequence.drafts[i]) {
      note_drafts(request, num_drafts, i);
      return sequence.drafts.clear();
    }
    ++request.num_accepted;
    ++speculation_.num_accepted_tokens;
    ++speculation_.num_accepted_at[i];
    ++sequence.num_computed_tokens;
    ++num_computed_tokens_;
    cache_.publish(sequence);
  }
}

// Saves are in the order of the rows.
void EngineCore::publish(Sequence& sequence, const scheduler::StepPlan& plan) {
  cache_.publish(sequence);
  while (num_saves_done_ < plan.saves.size() && plan.saves[num_saves_done_].sequence == &sequence) {
    const scheduler::PlannedSave& save = plan.saves[num_saves_done_];
    const bool is_new = cache_.add_checkpoint(sequence, save.position, save.slot);
    ++num_saves_done_;
    if (is_new && tiers_) tiers_->write(sequence, save.position, save.slot);
  }
}

// Frees the slots reserved for the saves of `sequence`, which are next, or of all rows that are not committed yet.
void EngineCore::give_back_saves(const scheduler::StepPlan& plan, const Sequence* sequence) noexcept {
  for (; num_saves_done_ < plan.saves.size(); ++num_saves_done_) {
    const scheduler::PlannedSave& save = plan.saves[num_saves_done_];
    if (sequence && save.sequence != sequence) return;
    cache_.give_back_slot(save.slot);
  }
}

bool EngineCore::commit_token(ActiveRequest& request, size_t logits_row, std::span<const float> held) {
  Status status = sample(request, logits_row, held);
  if (!status.is_ok()) return finish(request, FinishReason::error, std::move(status)), false;
  const int32_t token = sampled_.token_id;
  if (!request.first_token) request.first_token = Clock::now();
  request.sequence.tokens.push_back(token);
  request.count_output(token);
  const bool was_thinking = request.thinking.is_open();
  const bool is_last = follow(request, token);
  ++num_generated_tokens_;

  const bool is_stop_id = std::ranges::find(request.stop_ids, token) != request.stop_ids.end();
  event_.text.clear();
  const bool is_stop_string = !is_stop_id && append_text(request, token, was_thinking || request.thinking.is_open());
  event_.request_id = request.sequence.id;
  event_.kind = EventKind::token;
  event_.token_id = token;
  event_.has_logprob = request.params.num_top_logprobs >= 0;
  event_.logprob = sampled_.logprob;
  event_.top_logprobs.assign(sampled_.top_logprobs.begin(), sampled_.top_logprobs.end());
  event_.finish_reason = FinishReason::none;
  outbox_.add(request.callback, request.context, event_);

  const bool is_stop = is_stop_id || is_stop_string || is_last;
  if (!is_stop && request.sequence.num_tokens() < request.sequence.max_num_tokens) return true;
  if (!is_stop && request.is_awaited &&
      !request.document_position.is_ready()) {  // the mask that decides this is not ready yet
    request.sequence.drafts.clear();
    request.sequence.is_held = true;
    return false;
  }
  finish(request, is_stop ? FinishReason::stop : FinishReason::length, ok_status());
  return false;
}

// Advances the grammar and the thinking by the token. True if it ends the document and nothing can follow; that may
// also be found out later, see resume().
bool EngineCore::follow(ActiveRequest& request, int32_t token_id) {
  const bool was_thinking = request.thinking.is_open();
  request.thinking.note(token_id);
  if (!request.guide || was_thinking) return false;
  request.document_position = {};
  request.has_begun = true;
  masks_.accept(*request.guide, token_id);
  if (find_document_position(request, Clock::time_point())) return request.document_position.must_end;
  await_document_position(request);
  return false;
}

// Stop strings belong to the answer: neither the thinking, including its tags, nor the white space after it ends the
// text.
bool EngineCore::append_text(ActiveRequest& request, int32_t token_id, bool is_thought) {
  if (!request.detokenizer) return false;
  std::string chunk;
  request.detokenizer->push(token_id, chunk);
  if (is_thought && request.splits_thinking) request.is_before_answer = true;
  std::string_view answer = chunk;
  if (request.is_before_answer) {
    const size_t begin = is_thought ? std::string::npos : chunk.find_first_not_of(" \t\r\n");
    answer.remove_prefix(std::min(begin, chunk.size()));
    request.is_before_answer = answer.empty();
    request.stop_strings.push(std::string_view(chunk).substr(0, chunk.size() - answer.size()), /*armed=*/false,
                              event_.text);
  }
  const bool armed = request.num_generated() >= request.params.min_tokens;
  return !answer.empty() && request.stop_strings.push(answer, armed, event_.text);
}

void EngineCore::leave_to_tiers(const Sequence& sequence) noexcept {
  if (tiers_ && sequence.uses_cache && sequence.num_computed_tokens > 0)
    tiers_->write(sequence, sequence.num_computed_tokens, sequence.state_slot);
}

// Sends the last event and destroys the request.
void EngineCore::finish(ActiveRequest& request, FinishReason reason, Status status) noexcept {
  Event event;
  event.request_id = request.sequence.id;
  event.kind = EventKind::finished;
  try {
    if (request.detokenizer && request.stop_strings.matched().empty()) {
      std::string rest;
      request.detokenizer->finish(rest);
      request.stop_strings.push(rest, /*armed=*/false, event.text);
      request.stop_strings.finish(event.text);
    }
    event.stop_string = request.stop_strings.matched();
    if (request.is_pooled() && reason == FinishReason::stop) event.embedding = request.embedding();
  } catch (const std::bad_alloc&) {
    event.text.clear();
    reason = FinishReason::error;
    status = out_of_memory();
  }
  event.finish_reason = reason;
  event.usage = request.usage();
  event.timings = request.timings(Clock::now());
  event.status = std::move(status);
  num_scored_requests_ -= request.is_scored();
  num_rows_with_owners_ -= request.is_with_owner;
  const bool is_good = reason != FinishReason::error && !request.sequence.is_in_flight;
  if (is_good) leave_to_tiers(request.sequence);
  if (is_good && request.lookup)
    past_texts_.add(request.sequence.cache_salt,
                    std::span(request.sequence.tokens).last(static_cast<size_t>(request.num_generated())));
  if (std::erase(unseen_, request.sequence.id) == 0) scheduler_.remove(&request.sequence, is_good);
  const EventCallback callback = request.callback;
  void* context = request.context;
  if (!request.held_logits.empty()) --num_held_rows_;
  requests_.erase(event.request_id);
  publish_stats();
  outbox_.add(callback, context, event);
}

}  // namespace pagoda::engine
