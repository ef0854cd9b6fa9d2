// Sequence: the tokens of one request and their scheduler and cache state; independent of text, sampling and device.
// Owned by the engine; scheduler and cache keep plain pointers to it while it is waiting or running.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "request/image_span.h"

namespace pagoda::request {

enum class SequenceState : uint8_t { waiting, running, finished };

constexpr int32_t kNoPosition = std::numeric_limits<int32_t>::max();

struct Sequence {
  uint64_t id = 0;  // also the order of arrival
  SequenceState state = SequenceState::waiting;
  // Prompt, then output; reserved for max_num_tokens at submission. Tokens of images are keys (image_key()).
  std::vector<int32_t> tokens;
  std::vector<ImageSpan> images;  // of the prompt, in order
  std::vector<int32_t> drafts;    // proposed next tokens, for the next step only; not part of the answer
  int32_t num_prompt_tokens = 0;
  int32_t num_computed_tokens = 0;   // leading tokens whose keys, values and state are in the cache
  int32_t num_planned_tokens = 0;    // the same after the last step that was planned
  int32_t max_num_tokens = 0;        // prompt and output together
  std::vector<int32_t> block_table;  // KV blocks in order; filled by the scheduler through the BlockManager
  int32_t num_freed_blocks = 0;      // leading entries of block_table that it no longer holds: no layer attends to them
  int32_t first_changed_block = 0;   // entries of block_table before it are unchanged since its last step
  int32_t batch_index = -1;          // its place in that step
  int32_t state_slot = -1;           // recurrent slot while running; -1 for models without recurrent layers
  bool has_fresh_slot = false;       // the slot still contains another sequence's state: zero it in the next step
  bool is_in_flight = false;         // a running step computes its tokens: no other may, and it keeps its blocks
  int32_t num_preemptions = 0;
  bool is_held = false;  // its next token is not sampled yet though all are computed: not scheduled until then

  int32_t priority = 0;        // its class: lower ones first
  std::string share_id;        // sequences with the same one use one fair share
  int32_t share = -1;          // the scheduler's index of the share
  int32_t num_to_compute = 0;  // tokens still to compute before the next one is sampled, when last counted
  int32_t num_passes = 0;      // sequences that were admitted while it was the oldest waiting one
  int64_t arrival_work = 0;    // tokens that the scheduler had planned for all sequences when it arrived
  double waits_since = 0;      // seconds of the scheduler's clock: its arrival, or the last step with a row of it
  bool is_overdue = false;     // it has waited too long: the next to be admitted, regardless of its class

  uint64_t leader_id = 0;              // the running sequence that computes a prefix for it; 0: it waits for none
  int32_t awaited_position = 0;        // the end of that prefix
  int32_t num_leaders = 0;             // sequences that it has waited for
  int64_t num_admitted = 0;            // sequences that had been admitted when a leader was last searched for it
  int32_t next_awaited = kNoPosition;  // as a leader: the first position that another one waits for
  int32_t last_awaited = 0;            // and the last one
  int32_t num_followers = 0;           // as a leader: sequences that have waited for it

  int32_t adapter = -1;                       // slot of its LoRA adapter; -1: none
  bool is_scored = false;                     // logits of rows inside its prompt are needed, which takes time
  bool uses_cache = false;                    // may reuse cached prefixes and publish its own
  std::string cache_salt;                     // prefixes are shared only among sequences with the same salt
  std::vector<int32_t> checkpoint_positions;  // prompt positions, ascending, at which to save the recurrent state
  int32_t branch_position = -1;               // the position at which it diverged from the cached prompts
  uint64_t counted_version = 0;               // of the prefix index when num_to_compute was last counted
  int32_t claimed_slot = -1;                  // the state it will resume from, while it waits
  uint64_t claim = 0;                         // identifies that state: the slot may contain another one by now
  bool is_restoring = false;                  // a prefix is being read back; not admissible yet
  int32_t num_cached_tokens = 0;              // prompt tokens reused from the cache at first admission
  int32_t num_matched_tokens = 0;    // prompt tokens whose KV blocks matched then, with or without a saved state
  int32_t num_published_blocks = 0;  // leading blocks that other sequences can find
  int32_t num_tokens_before_preemption = 0;  // num_computed_tokens when it was preempted

  int32_t num_tokens() const noexcept { return static_cast<int32_t>(tokens.size()); }
  int32_t num_uncomputed() const noexcept { return num_tokens() - num_computed_tokens; }
  bool decodes() const noexcept { return num_uncomputed() == 1 && !is_held; }
};

}  // namespace pagoda::request
