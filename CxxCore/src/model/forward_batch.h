// ForwardBatch: one step's input as flat host arrays; made by the engine from a StepPlan, read by the model.
// Vectors are reserved once for the largest step and refilled, so a step allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace pagoda::model {

struct ForwardBatch {
  std::vector<int32_t> token_ids;     // [T]
  std::vector<int32_t> positions;     // [T]
  std::vector<int64_t> slot_mapping;  // [T] block * block_size + place
  std::vector<int32_t> cu_seqlens;    // [B + 1]
  std::vector<int32_t> context_lens;  // [B]
  std::vector<int32_t> block_tables;  // [B, max_blocks_per_seq]
  std::vector<int32_t> state_slots;   // [B]; empty for models without recurrent layers
  std::vector<int32_t> fresh_slots;   // state slots that start a sequence in this step and must be zeroed
  std::vector<int32_t> logits_rows;   // [R] rows of T whose logits are wanted

  int num_tokens() const noexcept { return static_cast<int>(token_ids.size()); }
  int num_seqs() const noexcept { return static_cast<int>(context_lens.size()); }
};

}  // namespace pagoda::model
