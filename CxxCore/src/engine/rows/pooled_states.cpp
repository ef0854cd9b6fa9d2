// Hidden states of a prompt's tokens, in token order.
#include "engine/rows/pooled_states.h"

#include <algorithm>
#include <exception>

namespace pagoda::engine {

// Adds the states in token order, so that the sum has the same bits however the prompt is split into chunks; each state
// once, even if it is recomputed after a preemption.
static Status add_states(ActiveRequest& request, int32_t first_row, int32_t num_rows, model::Model& model) {
  const request::Sequence& sequence = request.sequence;
  const int32_t begin = sequence.num_computed_tokens, end = std::min(begin + num_rows, sequence.num_prompt_tokens);
  const int32_t first = request.pooling == Pooling::last ? sequence.num_prompt_tokens - 1 : 0;
  for (int32_t position = std::max({begin, first, request.num_pooled}); position < end; ++position) {
    PAGODA_RETURN_IF_ERROR(model.read_state(first_row + position - begin, request.state));
    std::ranges::transform(request.pooled, request.state, request.pooled.begin(),
                           [](double sum, float value) { return sum + static_cast<double>(value); });
    request.num_pooled = position + 1;
  }
  return ok_status();
}

Status add_pooled_states(const scheduler::StepPlan& plan, const RequestTable& requests,
                         const model::ForwardBatch& batch, model::Model& model) noexcept {
  try {
    for (size_t b = 0; b < plan.sequences.size(); ++b) {
      ActiveRequest& request = requests.of(*plan.sequences[b].sequence);
      if (!request.is_pooled()) continue;
      PAGODA_RETURN_IF_ERROR(add_states(request, batch.cu_seqlens[b], plan.sequences[b].num_tokens, model));
    }
    return ok_status();
  } catch (const std::exception&) {
    return {StatusCode::internal, "a row of an embedding was lost"};
  }
}

}  // namespace pagoda::engine
