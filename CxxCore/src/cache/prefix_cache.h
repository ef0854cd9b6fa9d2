// PrefixCache: gives sequences their blocks and slot, with as much of their tokens already computed as is known, and
// keeps what they leave behind. Ids only: what must be copied is said, and the model does it.
// Thread rule: the engine's thread only, but for look_up(), which any thread may call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cache/block_manager.h"
#include "cache/copy.h"
#include "cache/prefix_index.h"
#include "cache/state_pool.h"
#include "request/sequence.h"

namespace pagoda::cache {

struct PrefixCacheStats {
  int64_t num_lookups = 0;            // sequences admitted for the first time that may use the cache
  int64_t num_hits = 0;               // of those, with at least one token found
  int64_t num_cached_tokens = 0;      // found, over all hits
  int64_t num_recomputed_tokens = 0;  // that a preempted sequence had computed before
  int32_t last_near_miss = -1;        // token index at which the last near-miss diverged
};

class PrefixCache {
 public:
  PrefixCache(BlockManager& blocks, StatePool& states, bool has_state, int32_t max_checkpoints)
      : blocks_(blocks), states_(states), index_(blocks, states, has_state, max_checkpoints) {}

  // Work to do before the step in which the admitted sequence computes its first token, in this order: sources
  // may belong to other sequences already, which write to them only in that step.
  struct Copies {
    std::vector<Copy> blocks, slots;
  };
  // Blocks for all tokens and a slot, the first num_computed_tokens of them known. False, and nothing changed, when
  // there is no room that leaves `num_spare_blocks` free.
  // Where the prompt diverges from the cached prefixes and no state is near, its own is kept: another may diverge
  // there.
  [[nodiscard]] bool admit(request::Sequence& sequence, Copies& copies, int64_t num_spare_blocks = 0);

  PrefixIndex::Match find(const request::Sequence& sequence) const noexcept {
    return index_.find(sequence.cache_salt, sequence.tokens, sequence.num_tokens() - 1);
  }

  // The cached prefix that a sequence of these tokens would find now.
  PrefixIndex::Match look_up(std::string_view salt, std::span<const int32_t> tokens) const noexcept {
    return index_.look_up(salt, tokens, static_cast<int32_t>(tokens.size()) - 1);
  }

  // Blocks for all tokens of a `reader`, which computes nothing but has them from elsewhere; those already known are
  // the first num_published_blocks. False, and nothing changed, when there is no room.
  [[nodiscard]] bool admit_reader(request::Sequence& reader);

  // Whether `newcomer` would find more once one of `running` has computed a few of its tokens. Holds only as long as
  // that one runs and has not got there, so no request waits for ever.
  bool is_worth_waiting(const request::Sequence& newcomer, std::span<request::Sequence* const> running) const;

  // The next position after `position` at which the state of `sequence` is to be kept, be it beyond its end.
  int32_t next_save(const request::Sequence& sequence, int32_t position) const noexcept;
  int32_t reserve_slot() noexcept { return index_.reserve_slot(); }
  void give_back_slot(int32_t slot) noexcept { index_.give_back_slot(slot); }

  // After a step: more tokens of the sequence are computed; and the state at `position` was copied to `slot`.
  void publish(request::Sequence& sequence);
  bool add_checkpoint(request::Sequence& sequence, int32_t position, int32_t slot);  // false when there was one

  // Frees the blocks of tokens before `position`, which no later token of the sequence sees. Those of a sequence that
  // uses the cache stay: what follows them is found by them.
  void free_before(request::Sequence& sequence, int32_t position) noexcept;

  // Takes blocks and slot from a sequence. What they hold is kept when it `is_good`: not after a failed step.
  // Without memory to note it, less of it is kept.
  void retire(request::Sequence& sequence, bool is_good) noexcept;

  // The same for one that others need blocks of at once, and that will come back. No state is kept at its end, which is
  // the first to be given out: with its block it would be lost in the same step, and have cost another state.
  void preempt(request::Sequence& sequence) noexcept;
  void expect_return(const request::Sequence& sequence) noexcept;  // the state it will continue from is worth much

  void clear() noexcept { index_.clear(); }  // see PrefixIndex

  const PrefixCacheStats& stats() const noexcept { return stats_; }
  const PrefixIndex& index() const noexcept { return index_; }

 private:
  struct BlockTail {  // of a sequence's tokens: those in the block that position - 1 lies in, up to position
    int32_t parent, block;
    std::span<const int32_t> tokens;
  };
  BlockTail tail_before(const request::Sequence& sequence, int32_t position) const noexcept;
  void learn_branch(request::Sequence& sequence, const PrefixIndex::Match& match) const noexcept;
  void keep_end(request::Sequence& sequence);
  void release(request::Sequence& sequence) noexcept;

  BlockManager& blocks_;
  StatePool& states_;
  PrefixIndex index_;
  PrefixCacheStats stats_;
};

}  // namespace pagoda::cache
