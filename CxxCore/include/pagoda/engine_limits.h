// EngineLimits: how much an engine holds and a step takes, planned from the options before anything is allocated.
#pragma once

#include <cstdint>

namespace pagoda {

// The pools, the workspace and the scheduler are all made for these.
struct EngineLimits {
  int64_t num_kv_blocks = 0;
  int32_t num_state_slots = 0;  // of running sequences and checkpoints; 0: the model has no recurrent layers
  int32_t num_checkpoints = 0;  // of num_state_slots: states that the prefix cache may keep
  int32_t max_num_tokens = 0;   // of one step; at least max_num_seqs, so that every running sequence can move
  int32_t max_num_seqs = 0;
  int32_t max_logits_rows = 0;
  int32_t max_blocks_per_seq = 0;
  int32_t block_size = 16;       // tokens of a KV block
  int32_t max_state_saves = 0;   // of one step
  int32_t max_model_len = 0;     // tokens of one sequence
  int32_t max_draft_rows = 0;    // of one step; max_logits_rows includes them
  int32_t attention_window = 0;  // a token sees this many tokens, itself included, in every layer; 0: all

  bool has_state() const noexcept { return num_state_slots > 0; }
  int32_t num_running_slots() const noexcept { return num_state_slots - num_checkpoints; }
  bool operator==(const EngineLimits&) const = default;
};

}  // namespace pagoda
