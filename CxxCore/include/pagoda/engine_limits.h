// EngineLimits: capacities of an engine and of a step, planned from the options before anything is allocated.
#pragma once

#include <cstdint>

namespace pagoda {

// The pools, the workspace and the scheduler are all sized by these.
struct EngineLimits {
  int64_t num_kv_blocks = 0;
  int32_t num_state_slots = 0;  // for running sequences and checkpoints; 0: the model has no recurrent layers
  int32_t num_checkpoints = 0;  // how many of num_state_slots the prefix cache may use
  int32_t max_num_tokens = 0;   // per step; at least max_num_seqs, so that every running sequence can advance
  int32_t max_num_seqs = 0;
  int32_t max_logits_rows = 0;
  int32_t max_blocks_per_seq = 0;
  int32_t block_size = 16;       // tokens per KV block
  int32_t max_state_saves = 0;   // per step
  int32_t max_model_len = 0;     // tokens per sequence
  int32_t max_draft_rows = 0;    // per step; included in max_logits_rows
  int32_t attention_window = 0;  // a token attends to this many tokens, including itself, in every layer; 0: all

  int64_t adapter_bytes = 0;  // for the numbers of LoRA adapters; 0: no adapters

  bool has_state() const noexcept { return num_state_slots > 0; }
  int32_t num_running_slots() const noexcept { return num_state_slots - num_checkpoints; }
  bool operator==(const EngineLimits&) const = default;
};

}  // namespace pagoda
