// EngineCore: hidden states of a prompt's tokens, summed for its embedding.
#include <algorithm>
#include <exception>

#include "engine/core/engine_core.h"

namespace pagoda::engine {

// Called after the forward pass and before the commit: num_computed_tokens is still the start of the step's rows.
Status EngineCore::pool(const scheduler::StepPlan& plan) noexcept {
  try {
    for (size_t b = 0; b < plan.rows.size(); ++b) {
      ActiveRequest& request = *requests_.at(plan.rows[b].sequence->id);
      if (!request.is_pooled()) continue;
      PAGODA_RETURN_IF_ERROR(pool(request, batch_.cu_seqlens[b], plan.rows[b].num_tokens));
    }
    return ok_status();
  } catch (const std::exception&) {
    return {StatusCode::internal, "a row of an embedding was lost"};
  }
}

// Adds the states in token order, so that the sum has the same bits however the prompt is split into chunks; each state
// once, even if it is recomputed after a preemption.
Status EngineCore::pool(ActiveRequest& request, int32_t first_row, int32_t num_rows) {
  const request::Sequence& sequence = request.sequence;
  const int32_t begin = sequence.num_computed_tokens, end = std::min(begin + num_rows, sequence.num_prompt_tokens);
  const int32_t first = request.pooling == Pooling::last ? sequence.num_prompt_tokens - 1 : 0;
  for (int32_t position = std::max({begin, first, request.num_pooled}); position < end; ++position) {
    PAGODA_RETURN_IF_ERROR(model_.read_state(first_row + position - begin, request.state));
    std::ranges::transform(request.pooled, request.state, request.pooled.begin(),
                           [](double sum, float value) { return sum + static_cast<double>(value); });
    request.num_pooled = position + 1;
  }
  return ok_status();
}

}  // namespace pagoda::engine
