// OwnerRows: copies rows for their owners, and counts those that are not answered.
#include "engine/rows/owner_rows.h"

#include <utility>

#include "base/concat.h"
#include "engine/rows/token_sampler.h"

namespace pagoda::engine {

void OwnerRows::begin(const ActiveRequest& request) {
  if (request.row_callback) shown_.resize(static_cast<size_t>(vocab_size_));
}

bool OwnerRows::hand_out(ActiveRequest& request, std::span<const float> logits) {
  if (!request.row_callback || request.thinking.forced_id() >= 0) return false;
  sampler::SampleInput input = sample_input(request, request.thinking, request.num_generated());
  if (request.has_document() && !request.document_position.status.is_ok()) return false;
  input.logits = logits;
  sampler::copy_admissible(input, shown_);
  const request::Sequence& sequence = request.sequence;
  const LogitRow row{.request_id = sequence.id,
                     .token_index = request.num_generated(),
                     .logits = shown_.data(),
                     .num_logits = vocab_size_,
                     .tokens = sequence.tokens.data(),
                     .num_tokens = sequence.num_tokens(),
                     .num_prompt_tokens = sequence.num_prompt_tokens};
  request.sequence.is_held = request.is_with_owner = true;
  ++num_rows_;
  request.row_callback(request.context, &row);
  return true;
}

bool OwnerRows::take_back(ActiveRequest& request, int32_t token_index, int32_t token_id) noexcept {
  if (!request.is_with_owner || request.num_generated() != token_index) return false;
  request.sequence.is_held = request.is_with_owner = false;
  --num_rows_;
  request.chosen_id = token_id;
  return true;
}

Status apply_choice(ActiveRequest& request, sampler::SampleInput& input) {
  const int32_t chosen = std::exchange(request.chosen_id, -1);
  if (chosen < 0) return ok_status();
  if (!sampler::is_admissible(input, chosen))
    return make_error(StatusCode::invalid_argument,
                      concat("token ", chosen, " was chosen, which the request's grammar or limits exclude"));
  input.forced_id = chosen;
  return ok_status();
}

}  // namespace pagoda::engine
