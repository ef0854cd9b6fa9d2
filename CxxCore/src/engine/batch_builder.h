// Flattens a StepPlan into the model's ForwardBatch.
#pragma once

#include <cstdint>

#include "model/forward_batch.h"
#include "model/model.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

// Reserves every array for the largest step, so that build_batch() allocates nothing. The block tables persist from
// step to step, as in the model.
void reserve_batch(model::ForwardBatch& batch, const EngineLimits& sizes);

// Logits are needed for the last token of each sequence whose tokens are all computed after this step, and for drafts.
void build_batch(const scheduler::StepPlan& plan, int32_t block_size, int32_t max_blocks_per_seq, bool has_state,
                 model::ForwardBatch& batch);

// One row of Model::draft(): the sequence's `token` at `position`.
struct DraftRow {
  const request::Sequence* sequence = nullptr;
  int32_t token = 0, position = 0;
  int32_t previous_row = -1;  // see ForwardBatch
};
void begin_draft_batch(model::ForwardBatch& batch);
void add_draft_row(const DraftRow& row, int32_t block_size, int32_t max_blocks_per_seq, model::ForwardBatch& batch);

}  // namespace pagoda::engine
