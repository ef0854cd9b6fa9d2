// Hidden states of a prompt's tokens, summed for its embedding. Thread rule: the engine's thread.
#pragma once

#include "base/result.h"
#include "engine/core/request_table.h"
#include "model/model.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

// Called after the forward pass of a batch with keeps_states, before the step is committed: num_computed_tokens is
// still the start of its rows.
Status add_pooled_states(const scheduler::StepPlan& plan, const RequestTable& requests,
                         const model::ForwardBatch& batch, model::Model& model) noexcept;

}  // namespace pagoda::engine
