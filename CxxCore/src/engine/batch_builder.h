// Flattens a StepPlan into the model's ForwardBatch.
#pragma once

#include <cstdint>

#include "model/forward_batch.h"
#include "model/model.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

// Reserves every array for the largest step, so that build_batch() allocates nothing. The block tables stay from step
// to step, as in the model.
void reserve_batch(model::ForwardBatch& batch, const model::ModelSizes& sizes);

// Logits are wanted for the last row of each sequence whose tokens are all computed after this step.
void build_batch(const scheduler::StepPlan& plan, int32_t block_size, int32_t max_blocks_per_seq, bool has_state,
                 model::ForwardBatch& batch);

}  // namespace pagoda::engine
