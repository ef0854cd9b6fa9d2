// EngineCore: states of a prompt's tokens, added up for its embedding.
#include <algorithm>
#include <exception>

#include "engine/core/engine_core.h"

namespace pagoda::engine {

// After the forward pass and before the commit: num_computed_tokens is still where the step's rows begin.
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

// In the order of the tokens, so that the sum has the same bits for any chunks; each once, also when a preemption has
// it computed again.
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
