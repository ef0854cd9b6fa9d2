// TokenSampler: chooses where each row is sampled.
#include "engine/rows/token_sampler.h"

#include <algorithm>
#include <exception>

#include "device/pick_ops.h"
#include "engine/rows/owner_rows.h"

namespace pagoda::engine {

sampler::SampleInput sample_input(ActiveRequest& request, const Thinking& thinking, int32_t num_generated) {
  const bool before_min = num_generated < request.params.min_tokens;
  sampler::SampleInput input;
  input.params = &request.params;
  input.counts = &request.counts;
  if (request.dry_scratch) {
    const std::span<const int32_t> tokens = request.sequence.tokens;
    const auto end = static_cast<size_t>(request.sequence.num_prompt_tokens + num_generated);
    input.history = tokens.first(std::min(tokens.size(), end));  // drafts are not part of the sequence yet
    input.dry_scratch = &*request.dry_scratch;
  }
  input.forced_id = thinking.forced_id();
  const bool has_document = request.guide && !thinking.is_open();
  if (has_document && request.document_position.mask) input.allowed = *request.document_position.mask;
  // While a model is thinking, its document has not started.
  const bool must_continue = before_min || (request.guide && !has_document);
  input.banned = request.find_banned(num_generated, must_continue ? request.stop_ids : std::span<const int32_t>{});
  input.seed = request.seed;
  input.token_index = static_cast<uint64_t>(num_generated);
  return input;
}

TokenSampler::TokenSampler(model::Model& model, const model::ForwardBatch& batch, MaskGate& masks, int32_t vocab_size,
                           const EngineLimits& limits, int32_t num_threads)
    : model_(model), batch_(batch), masks_(masks), vocab_size_(static_cast<size_t>(vocab_size)), sampler_(vocab_size) {
  if (model_.samples()) draw_lists_.emplace(vocab_size, limits.max_logits_rows);
  if (num_threads > 1) row_sampler_.emplace(vocab_size, limits.max_num_seqs, num_threads);
}

void TokenSampler::reserve(model::ForwardBatch& batch) const {
  if (draw_lists_) draw_lists_->reserve(batch.edits, batch.masks);
}

Draw TokenSampler::draw_for(ActiveRequest& request, const Thinking& thinking, std::span<const int32_t> ahead,
                            model::ForwardBatch& batch) {
  const bool has_document = request.guide && !thinking.is_open();
  if (request.row_callback || (!ahead.empty() && (has_document || !request.params.banned.empty()))) return {};
  const grammar::DocumentPosition& position = request.document_position;
  if (has_document && (position.mask == nullptr || !position.status.is_ok() || position.must_end)) return {};
  const auto max_top_k = static_cast<int32_t>(device::max_top_k(static_cast<int64_t>(vocab_size_)));
  const sampler::SampleInput input =
      sample_input(request, thinking, request.num_generated() + static_cast<int32_t>(ahead.size()));
  Draw draw = sampler::draw_of(input, max_top_k);
  if (!draw_lists_ && (draw.is_whole > 0 || draw.num_logprobs > 0)) return {};
  if (draw.top_k == 0 || !sampler::changes_logits(input)) return draw;
  const bool fits = draw_lists_ && draw_lists_->add(input, ahead, draw, batch.edits, batch.masks);
  return fits ? draw : Draw{};
}

// Fetching a row of 248,000 logits from a GPU takes longer than sampling a token there: a device that samples exactly
// as the sampler does gets the parameters, unless the request needs more of the row than its most likely tokens.
void TokenSampler::ask(const scheduler::StepPlan& plan, const RequestTable& requests, model::ForwardBatch& batch) {
  for (const scheduler::ScheduledSequence& scheduled : plan.sequences) {
    if (scheduled.num_tokens < scheduled.sequence->num_uncomputed()) continue;
    ActiveRequest& request = requests.of(*scheduled.sequence);
    Thinking thinking = request.thinking;  // its state if the drafts are accepted
    for (int32_t i = 0; i <= scheduled.num_drafts; ++i) {
      if (i > 0) thinking.note(scheduled.sequence->drafts[i - 1]);
      const auto ahead = std::span<const int32_t>(scheduled.sequence->drafts).first(static_cast<size_t>(i));
      batch.draws.push_back(draw_for(request, thinking, ahead, batch));
    }
  }
}

// Whether the device has sampled the row.
bool TokenSampler::is_picked(size_t logits_row) const noexcept {
  const std::span<const int32_t> picked = model_.picked();
  return !picked.empty() && batch_.draws[logits_row].top_k > 0 && picked[logits_row] >= 0;
}

bool TokenSampler::may_sample_ahead(ActiveRequest& request) {
  if (request.is_cancelled || request.score_end || request.is_pooled() || request.row_callback) return false;
  if (!masks_.is_ready(request)) return false;
  const grammar::DocumentPosition& position = request.document_position;
  return !request.has_document() || (position.status.is_ok() && !position.must_end);
}

// The first row of a request depends on no other row. Rows of drafts depend on the tokens before them, and rows whose
// mask is late or whose document has ended are left to the commit.
void TokenSampler::sample_ahead(const scheduler::StepPlan& plan, const RequestTable& requests) noexcept {
  if (!row_sampler_) return;
  row_sampler_->begin();
  size_t next_row = 0;
  for (const scheduler::ScheduledSequence& scheduled : plan.sequences) {
    if (scheduled.num_tokens < scheduled.sequence->num_uncomputed()) continue;
    const size_t logits_row = next_row;
    next_row += static_cast<size_t>(1 + scheduled.num_drafts);
    if (is_picked(logits_row)) continue;
    ActiveRequest& request = requests.of(*scheduled.sequence);
    try {
      if (!may_sample_ahead(request)) continue;
      sampler::SampleInput input = sample_input(request, request.thinking, request.num_generated());
      input.logits = logits(logits_row);
      row_sampler_->add(logits_row, input);
    } catch (const std::exception&) {  // the commit meets the same error, and ends the request
    }
  }
  row_sampler_->run();
}

Status TokenSampler::sample(ActiveRequest& request, size_t logits_row, std::span<const float> held) {
  if (held.empty() && is_picked(logits_row)) {
    sampled_.token_id = model_.picked()[logits_row];
    sampled_.logprob = 0.0f;
    sampled_.top_logprobs.clear();
    const int32_t num_top_logprobs = request.params.num_top_logprobs;
    if (num_top_logprobs >= 0) sampler::fill_logprobs(model_.scores()[logits_row], num_top_logprobs, sampled_);
    return ok_status();
  }
  if (Status status; held.empty() && row_sampler_ && row_sampler_->take(logits_row, status, sampled_)) return status;
  sampler::SampleInput input = sample_input(request, request.thinking, request.num_generated());
  if (request.has_document()) PAGODA_RETURN_IF_ERROR(request.document_position.status);
  PAGODA_RETURN_IF_ERROR(apply_choice(request, input));
  input.logits = !held.empty() ? held : logits(logits_row);
  return sampler_.sample(input, sampled_);
}

}  // namespace pagoda::engine
