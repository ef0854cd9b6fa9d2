// PrefixCache: allocates blocks and slots for sequences, with as many tokens as possible already computed, and
// retains them afterwards. Ids only: it lists the copies to make, and the model executes them.
// Thread rule: the engine's thread only, except look_up(), which any thread may call.
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
  int64_t num_hits = 0;               // those with at least one token found
  int64_t num_cached_tokens = 0;      // tokens found, over all hits
  int64_t num_recomputed_tokens = 0;  // tokens that a preempted sequence had computed before
  int32_t last_near_miss = -1;        // token index at which the last near-miss diverged
};

class PrefixCache {
 public:
  PrefixCache(BlockManager& blocks, StatePool& states, bool has_state, int32_t max_checkpoints)
      : blocks_(blocks), states_(states), index_(blocks, states, has_state, max_checkpoints) {}

  // Work to do before the step in which the admitted sequence computes its first token, in this order: sources may
  // already belong to other sequences, which write to them only in that step.
  struct Copies {
    std::vector<Copy> blocks, slots;
  };
  // Allocates blocks for all tokens, and a slot; the first num_computed_tokens are cached. False, and nothing changed,
  // if fewer than `num_spare_blocks` blocks would remain free. If the prompt diverges from the cached prefixes and no
  // state is near, its own state is saved there: another prompt may diverge at the same position.
  [[nodiscard]] bool admit(request::Sequence& sequence, Copies& copies, int64_t num_spare_blocks = 0);

  PrefixIndex::Match find(const request::Sequence& sequence) const noexcept {
    const PrefixIndex::Match match = index_.find(sequence.cache_salt, sequence.tokens, sequence.num_tokens() - 1);
    const int32_t sure = request::sure_length(sequence.tokens, match.num_tokens);
    return sure == match.num_tokens ? match : index_.find(sequence.cache_salt, sequence.tokens, sure);
  }

  // The cached prefix that a sequence with these tokens would find now.
  PrefixIndex::Match look_up(std::string_view salt, std::span<const int32_t> tokens) const noexcept {
    return index_.look_up(salt, tokens, static_cast<int32_t>(tokens.size()) - 1);
  }

  // A cached prefix that is kept: its blocks have one more holder, and its checkpoint is not evicted.
  struct Pin {
    std::vector<int32_t> blocks;
    int32_t slot = -1;
    uint64_t number = 0;  // identifies the checkpoint; 0: the slot is not one
  };
  Pin pin(const PrefixIndex::Match& match);
  void unpin(Pin& pin) noexcept;
  // Pins the first `position` tokens of a sequence and the state after them, to copy them; empty if it is not cached.
  Pin hold(const request::Sequence& sequence, int32_t position);
  // The same for all computed tokens of a sequence that gives its memory back afterwards. A state that cannot become a
  // checkpoint, or shall not, is taken from the sequence: unpin() frees its slot.
  Pin hold_end(request::Sequence& sequence, bool becomes_checkpoint);

  // Allocates blocks for all tokens of a `reader`, which reads them from a store instead of computing them; those
  // already cached are the first num_published_blocks. False, and nothing changed, if there is no space.
  [[nodiscard]] bool admit_reader(request::Sequence& reader);

  // Of the running sequences, the one that will compute the most of what `newcomer` needs and does not find in the
  // cache; none if too little of it, or too late, or if it is of a less urgent class.
  struct Leader {
    request::Sequence* sequence = nullptr;
    int32_t position = 0;  // the end of the prefix that it is worth waiting for; not computed yet
  };
  Leader find_leader(const request::Sequence& newcomer, std::span<request::Sequence* const> running) const noexcept;
  // Another sequence waits for that prefix: its state will be saved there.
  void note_follower(const Leader& leader) noexcept;

  // Counts the cached tokens that a waiting sequence would find now, and protects the state it would resume from until
  // it is admitted or leaves.
  int32_t claim(request::Sequence& waiting) noexcept;
  uint64_t version() const noexcept { return index_.version(); }  // see PrefixIndex

  // The next position after `position` at which the state of `sequence` is to be saved, possibly beyond its end.
  int32_t next_save(const request::Sequence& sequence, int32_t position) const noexcept;
  int32_t reserve_slot(bool is_awaited) noexcept { return index_.reserve_slot(is_awaited); }
  void give_back_slot(int32_t slot) noexcept { index_.give_back_slot(slot); }

  // Called after a step: publish() when more tokens of the sequence are computed, add_checkpoint() when the state at
  // `position` was copied to `slot`.
  void publish(request::Sequence& sequence);
  bool add_checkpoint(request::Sequence& sequence, int32_t position, int32_t slot);  // false if it exists already

  // Frees the blocks of tokens before `position`, which no later token of the sequence attends to. Blocks of a sequence
  // that uses the cache stay: the blocks after them are found through them.
  void free_before(request::Sequence& sequence, int32_t position) noexcept;

  // Takes blocks and slot from a sequence. Their contents are kept if `is_good`: not after a failed step.
  // If there is no memory to record them, less is kept.
  void retire(request::Sequence& sequence, bool is_good) noexcept;

  // The same for a preempted sequence, which will resume. No state is saved at its end, which is the first
  // to be reallocated: it would be lost with its block in the same step, after evicting another state.
  void preempt(request::Sequence& sequence) noexcept;
  void expect_return(const request::Sequence& sequence) noexcept;  // raises the value of the state it will resume from

  void clear() noexcept { index_.clear(); }  // see PrefixIndex

  int32_t block_size() const noexcept { return blocks_.block_size(); }  // any thread
  const PrefixCacheStats& stats() const noexcept { return stats_; }
  const PrefixIndex& index() const noexcept { return index_; }

 private:
  struct BlockTail {  // tokens of a sequence in the block that contains position - 1, up to position
    int32_t parent, block;
    std::span<const int32_t> tokens;
  };
  BlockTail tail_before(const request::Sequence& sequence, int32_t position) const noexcept;
  int32_t last_save(const request::Sequence& leader, int32_t limit) const noexcept;
  bool can_plan_save(const request::Sequence& sequence) const noexcept;
  void plan_save(request::Sequence& sequence, int32_t position) const noexcept;
  void learn_branch(request::Sequence& sequence, const PrefixIndex::Match& match) const noexcept;
  void unclaim(request::Sequence& sequence) noexcept;
  void keep_end(request::Sequence& sequence);
  void release(request::Sequence& sequence) noexcept;

  BlockManager& blocks_;
  StatePool& states_;
  PrefixIndex index_;
  PrefixCacheStats stats_;
};

}  // namespace pagoda::cache
