// EngineCore: logits of rows inside a prompt, for its log probabilities, and inside a recorded answer, for
// verification.
#include <algorithm>
#include <new>
#include <span>

#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

// Lists the rows to score in the step being built. A row is scored once, even if a preemption makes it run again.
void EngineCore::find_scored_rows(const scheduler::StepPlan& plan) {
  scored_rows_.clear();
  for (size_t b = 0; b < plan.rows.size(); ++b) {
    const request::Sequence& sequence = *plan.rows[b].sequence;
    ActiveRequest& request = *requests_.at(sequence.id);
    if (!request.is_scored()) continue;
    const int32_t begin = sequence.num_computed_tokens;
    const int32_t last = request.is_checked ? sequence.num_tokens() : sequence.num_prompt_tokens;
    const int32_t first = request.num_prompt_logprobs >= 0 ? 0 : sequence.num_prompt_tokens - 1;
    const int32_t end = std::min(begin + plan.rows[b].num_tokens, last - 1);  // the last token has no successor
    for (int32_t position = std::max({begin, first, request.num_scored}); position < end; ++position)
      scored_rows_.push_back({&request, batch_.cu_seqlens[b] + position - begin, position});
  }
}

// Scores as many rows at a time as the logits buffer holds, then restores the rows from which answers are sampled.
Status EngineCore::score() noexcept {
  try {
    const std::span<const ScoredRow> all = scored_rows_;
    if (all.empty()) return ok_status();
    const size_t max_rows = static_cast<size_t>(config_.limits.max_logits_rows);
    for (size_t first = 0; first < all.size(); first += max_rows) {
      const std::span<const ScoredRow> rows = all.subspan(first, std::min(max_rows, all.size() - first));
      score_rows_.clear();
      for (const ScoredRow& row : rows) score_rows_.push_back(row.row);
      PAGODA_RETURN_IF_ERROR(model_.project(score_rows_));
      for (size_t i = 0; i < rows.size(); ++i) score(rows[i], i);
    }
    return batch_.logits_rows.empty() ? ok_status() : model_.project(batch_.logits_rows);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

void EngineCore::score(const ScoredRow& row, size_t logits_row) {
  ActiveRequest& request = *row.request;
  if (request.score_end) return;
  const request::Sequence& sequence = request.sequence;
  const size_t vocab = static_cast<size_t>(config_.vocab_size);
  const int32_t next = sequence.tokens[row.position + 1];
  const int32_t index = row.position + 1 - sequence.num_prompt_tokens;  // index in the answer
  const bool is_prompt = index < 0;
  const bool needs_mask = !is_prompt && request.guide && !request.thinking.is_open();
  sampler::SampleInput input;
  if (is_prompt) {
    score_params_.num_top_logprobs = request.num_prompt_logprobs;
    input.params = &score_params_;
    input.counts = &request.counts;
    input.forced_id = next;
  } else {
    if (needs_mask) find_document_position(request, Clock::time_point::max());
    input = sample_input(request, request.thinking, index);
  }
  input.logits = model_.logits().subspan(logits_row * vocab, vocab);
  Status status = needs_mask ? request.document_position.status : ok_status();
  if (status.is_ok()) status = sampler_.sample(input, sampled_);
  if (!status.is_ok()) {
    request.score_end = std::move(status);
    return;
  }
  request.num_scored = row.position + 1;
  event_.text.clear();
  event_.request_id = sequence.id;
  event_.kind = is_prompt ? EventKind::prompt_token : EventKind::token;
  event_.token_id = sampled_.token_id;
  event_.has_logprob = input.params->num_top_logprobs >= 0;
  event_.logprob = sampled_.logprob;
  event_.top_logprobs.assign(sampled_.top_logprobs.begin(), sampled_.top_logprobs.end());
  const auto is_above = [&](float logit) { return logit > input.logits[next]; };
  event_.rank = is_prompt ? 1 + static_cast<int32_t>(std::ranges::count_if(input.logits, is_above)) : 0;
  event_.finish_reason = FinishReason::none;
  outbox_.add(request.callback, request.context, event_);
  if (!is_prompt) check_token(request, next);
}

// The answer continues with its recorded token as long as that token is sampled.
void EngineCore::check_token(ActiveRequest& request, int32_t token_id) {
  if (sampled_.token_id != token_id) {
    request.score_end = ok_status();
    return;
  }
  request.count_output(token_id);
  follow(request, token_id);
}

}  // namespace pagoda::engine
