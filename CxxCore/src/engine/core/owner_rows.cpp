// EngineCore: rows whose logits the owners of requests change, or choose a token from. The owner gets a copy and
// answers in its own time; meanwhile the sequence is left out of the steps, as one whose mask is late, so no other
// waits for it.
#include <exception>
#include <utility>

#include "base/concat.h"
#include "engine/core/engine_core.h"
#include "engine/step_status.h"

namespace pagoda::engine {

// False if the owner has no part in the next token.
bool EngineCore::hand_out_row(ActiveRequest& request, std::span<const float> logits) {
  if (!request.row_callback || request.thinking.forced_id() >= 0) return false;
  sampler::SampleInput input = sample_input(request, request.thinking, request.num_generated());
  if (request.guide && !request.thinking.is_open() && !request.document_position.status.is_ok()) return false;
  input.logits = logits;
  sampler::copy_admissible(input, shown_row_);
  const request::Sequence& sequence = request.sequence;
  const LogitRow row{.request_id = sequence.id,
                     .token_index = request.num_generated(),
                     .logits = shown_row_.data(),
                     .num_logits = config_.vocab_size,
                     .tokens = sequence.tokens.data(),
                     .num_tokens = sequence.num_tokens(),
                     .num_prompt_tokens = sequence.num_prompt_tokens};
  request.sequence.is_held = request.is_with_owner = true;
  ++num_rows_with_owners_;
  request.row_callback(request.context, &row);
  return true;
}

void EngineCore::answer_row(uint64_t id, int32_t token_index, std::span<const float> logits,
                            int32_t token_id) noexcept {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  ActiveRequest& request = *found->second;
  if (!request.is_with_owner || request.num_generated() != token_index) return;
  request.sequence.is_held = request.is_with_owner = false;
  --num_rows_with_owners_;
  request.chosen_id = token_id;
  try {
    commit_token(request, 0, logits);
  } catch (const std::exception&) {
    finish(request, FinishReason::error, status_of_exception());
  }
}

Status EngineCore::take_chosen(ActiveRequest& request, sampler::SampleInput& input) {
  const int32_t chosen = std::exchange(request.chosen_id, -1);
  if (chosen < 0) return ok_status();
  if (!sampler::is_admissible(input, chosen))
    return make_error(StatusCode::invalid_argument,
                      concat("token ", chosen, " was chosen, which the request's grammar or limits exclude"));
  input.forced_id = chosen;
  return ok_status();
}

}  // namespace pagoda::engine
