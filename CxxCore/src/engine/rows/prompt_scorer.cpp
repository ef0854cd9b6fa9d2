// PromptScorer: projects the rows, and compares each with the token that follows it.
#include "engine/rows/prompt_scorer.h"

#include <algorithm>
#include <new>
#include <span>

#include "engine/step_status.h"

namespace pagoda::engine {

PromptScorer::PromptScorer(model::Model& model, MaskGate& masks, TokenSampler& sampler, EventWriter& events,
                           const EngineLimits& limits)
    : model_(model),
      masks_(masks),
      sampler_(sampler),
      events_(events),
      max_logits_rows_(static_cast<size_t>(limits.max_logits_rows)) {
  rows_.reserve(static_cast<size_t>(limits.max_num_tokens));
  projected_.reserve(max_logits_rows_);
}

bool PromptScorer::find_rows(const scheduler::StepPlan& plan, const RequestTable& requests,
                             const model::ForwardBatch& batch) {
  rows_.clear();
  for (size_t b = 0; b < plan.sequences.size(); ++b) {
    const request::Sequence& sequence = *plan.sequences[b].sequence;
    ActiveRequest& request = requests.of(sequence);
    if (!request.is_scored()) continue;
    const int32_t begin = sequence.num_computed_tokens;
    const int32_t last = request.is_checked ? sequence.num_tokens() : sequence.num_prompt_tokens;
    const int32_t first = request.num_prompt_logprobs >= 0 ? 0 : sequence.num_prompt_tokens - 1;
    const int32_t end = std::min(begin + plan.sequences[b].num_tokens, last - 1);  // the last token has no successor
    for (int32_t position = std::max({begin, first, request.num_scored}); position < end; ++position)
      rows_.push_back({&request, batch.cu_seqlens[b] + position - begin, position});
  }
  return !rows_.empty();
}

Status PromptScorer::score(const model::ForwardBatch& batch) noexcept {
  try {
    const std::span<const Row> all = rows_;
    if (all.empty()) return ok_status();
    for (size_t first = 0; first < all.size(); first += max_logits_rows_) {
      const std::span<const Row> rows = all.subspan(first, std::min(max_logits_rows_, all.size() - first));
      projected_.clear();
      for (const Row& row : rows) projected_.push_back(row.row);
      PAGODA_RETURN_IF_ERROR(model_.project(projected_));
      for (size_t i = 0; i < rows.size(); ++i) score(rows[i], sampler_.logits(i));
    }
    return batch.logits_rows.empty() ? ok_status() : model_.project(batch.logits_rows);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

void PromptScorer::score(const Row& row, std::span<const float> logits) {
  ActiveRequest& request = *row.request;
  if (request.score_end) return;
  const int32_t next = request.sequence.tokens[static_cast<size_t>(row.position) + 1];
  const int32_t answer_index = row.position + 1 - request.sequence.num_prompt_tokens;
  if (Status status = sample(request, next, answer_index, logits); !status.is_ok()) {
    request.score_end = std::move(status);
    return;
  }
  request.num_scored = row.position + 1;
  events_.new_text();  // stays empty
  if (answer_index < 0) {
    const auto is_above = [&](float logit) { return logit > logits[static_cast<size_t>(next)]; };
    return events_.add_prompt_token(request, sampled_,
                                    1 + static_cast<int32_t>(std::ranges::count_if(logits, is_above)));
  }
  events_.add_token(request, sampled_);
  if (sampled_.token_id != next) {  // a checked answer continues as long as its recorded tokens are sampled
    request.score_end = ok_status();
    return;
  }
  request.count_output(next);
  masks_.accept(request, next);
}

// answer_index: of the token in the answer; negative in the prompt, whose tokens are given.
Status PromptScorer::sample(ActiveRequest& request, int32_t next, int32_t answer_index, std::span<const float> logits) {
  sampler::SampleInput input;
  if (answer_index < 0) {
    prompt_params_.num_top_logprobs = request.num_prompt_logprobs;
    input.params = &prompt_params_;
    input.counts = &request.counts;
    input.forced_id = next;
  } else {
    if (request.has_document()) {
      masks_.wait_for_mask(request);
      PAGODA_RETURN_IF_ERROR(request.document_position.status);
    }
    input = sample_input(request, request.thinking, answer_index);
  }
  input.logits = logits;
  return sampler_.sample(input, sampled_);
}

}  // namespace pagoda::engine
