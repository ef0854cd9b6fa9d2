// Sequence: the tokens of one request and what the scheduler and the cache know of them. No text, no sampling, no
// device. Owned by the engine; scheduler and cache hold plain pointers while it is waiting or running.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda::request {

enum class SequenceState : uint8_t { waiting, running, finished };

struct Sequence {
  uint64_t id = 0;  // also the order of arrival
  SequenceState state = SequenceState::waiting;
  std::vector<int32_t> tokens;  // prompt, then output; reserved for max_num_tokens at submission
  int32_t num_prompt_tokens = 0;
  int32_t num_computed_tokens = 0;   // leading tokens whose keys, values and state are in the cache
  int32_t max_num_tokens = 0;        // prompt and output together
  std::vector<int32_t> block_table;  // KV blocks in order; filled by the scheduler through the BlockManager
  int32_t state_slot = -1;           // recurrent slot while running; -1 for models without recurrent layers
  bool has_fresh_slot = false;       // the slot still holds another sequence's leftovers: zero it in the next step
  int32_t num_preemptions = 0;

  bool uses_cache = false;                    // its tokens may be found, and what it computes may be
  std::string cache_salt;                     // found by sequences with the same one only
  std::vector<int32_t> checkpoint_positions;  // in the prompt, ascending: where its recurrent state is to be kept
  bool is_reading = false;                    // from disk, before it may be admitted
  int32_t num_cached_tokens = 0;              // of the prompt, that were found when it was first admitted
  int32_t num_matched_tokens = 0;    // of the prompt, that were known then, with or without a state to go on from
  int32_t num_published_blocks = 0;  // leading blocks that others may find
  int32_t num_tokens_before_preemption = 0;  // computed ones

  int32_t num_tokens() const noexcept { return static_cast<int32_t>(tokens.size()); }
  int32_t num_uncomputed() const noexcept { return num_tokens() - num_computed_tokens; }
};

}  // namespace pagoda::request
