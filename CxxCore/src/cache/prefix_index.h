// PrefixIndex: the tokens in the KV blocks, as a tree, and the recurrent states saved in it (checkpoints).
// A node is a block: its parent is the block before it. Tokens are compared one by one, so there are no hash
// collisions. Prompts of different tenants (salts) are in different trees. Ids only; the data is on the device.
//
// The children of a node form a balanced search tree ordered by tokens. Among 100,000 children, the one that shares the
// most tokens with a prompt is found with 20 to 40 comparisons, even if they diverge in the middle of a block.
// Checkpoints are found by a hash of the tokens before them.
//
// State: per block its node, per slot its checkpoint; all sized once, so nothing is allocated in the step loop.
// Thread rule: the engine's thread only, except look_up(), which any thread may call.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/block_manager.h"
#include "cache/state_pool.h"

namespace pagoda::cache {

constexpr int32_t kNoBlock = -1;       // as a parent: the beginning of a prompt
constexpr int32_t kMaxBlockSize = 32;  // tokens

class PrefixIndex {
 public:
  // At most `max_checkpoints` slots of `states` are checkpoints. Without recurrent state, blocks alone are sufficient
  // to resume.
  PrefixIndex(BlockManager& blocks, StatePool& states, bool has_state, int32_t max_checkpoints);
  PrefixIndex(const PrefixIndex&) = delete;
  PrefixIndex& operator=(const PrefixIndex&) = delete;

  struct Match {
    int32_t num_matched = 0;           // leading tokens that are also in the tree
    int32_t matched_block = kNoBlock;  // the last block whose tokens all match
    int32_t num_tokens = 0;            // the most matched tokens that a sequence can resume from
    int32_t block = kNoBlock;  // the node with the last of them; shared if it ends there, copied if it continues
    int32_t slot = -1;         // the state after them; -1 without state
  };
  // The longest match of at most `limit` tokens. Changes nothing, not even the eviction order.
  Match find(std::string_view salt, std::span<const int32_t> tokens, int32_t limit) const noexcept;
  // The same for any thread: waits while the engine's thread changes the tree, which takes microseconds and never spans
  // a step. Only the counts remain valid after the call: blocks and slots may be reallocated immediately.
  Match look_up(std::string_view salt, std::span<const int32_t> tokens, int32_t limit) const noexcept {
    const std::lock_guard lock(mutex_);
    return find(salt, tokens, limit);
  }
  // The blocks from the first of the prompt to `block`, appended to `table`.
  void chain_to(int32_t block, std::vector<int32_t>& table) const;

  // Adds a held, full block: its tokens are computed and follow those of `parent`. Returns the block that represents
  // them in the tree, which is a different one if the tree already had these tokens.
  int32_t publish(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block);
  // The same for a block that is not full and will not be filled. Does nothing if the tokens are already cached.
  void publish_end(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block);

  // A slot for a checkpoint; -1 if there is none. May evict the least valuable checkpoint; one that a waiting sequence
  // has claimed only if the new one `is_awaited` too.
  int32_t reserve_slot(bool is_awaited) noexcept;
  // Turns a sequence's slot into one that a checkpoint may use. False if there is no place for it.
  bool adopt_slot(bool is_awaited = false) noexcept;
  void give_back_slot(int32_t slot) noexcept;
  // Adds the state after `tokens`, which follow those of `parent` and are in `block`; it is in `slot`, reserved or
  // adopted. `num_uses` is the expected number of uses. False if it was already cached: then the slot is free again.
  bool add_checkpoint(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block,
                      int32_t slot, int32_t num_uses = 1);
  void touch(int32_t slot) noexcept;                          // the checkpoint was used now
  void expect_uses(int32_t slot, int32_t num_uses) noexcept;  // at least this many from now on

  // A waiting sequence will resume from the checkpoint. Returns what unclaim() needs: the checkpoint may be lost by
  // then.
  uint64_t claim(int32_t slot) noexcept;
  void unclaim(int32_t slot, uint64_t claim) noexcept;
  // A pinned checkpoint is not evicted. unpin() needs what pin() returns.
  uint64_t pin(int32_t slot) noexcept;
  void unpin(int32_t slot, uint64_t pin) noexcept;
  // Changes whenever find() may return another number of tokens to resume from.
  uint64_t version() const noexcept { return version_; }

  void clear() noexcept;  // the contents of blocks and slots are lost; no sequence holds any

  bool has_state() const noexcept { return has_state_; }
  int32_t max_checkpoints() const noexcept { return max_checkpoints_; }
  int32_t num_checkpoints() const noexcept { return num_checkpoints_; }
  int64_t num_nodes() const noexcept { return num_nodes_; }
  int64_t num_checkpoint_evictions() const noexcept { return num_checkpoint_evictions_; }
  int64_t num_checkpoint_hits() const noexcept { return num_checkpoint_hits_; }

 private:
  struct Node {
    int32_t num_tokens = 0;  // 0: not in the tree
    int32_t parent = kNoBlock;
    int32_t children = -1;          // the root of their search tree
    int32_t left = -1, right = -1;  // in the search tree of the parent's children
    int32_t first_checkpoint = -1;
    int32_t num_below = 0;  // checkpoints of the children
    std::string salt;       // only in nodes without a parent
  };
  struct Checkpoint {
    int32_t block = -1;  // -1: the entry is unused
    int32_t length = 0;  // tokens of the block before it
    int32_t next = -1;   // the next checkpoint of the same block
    uint64_t hash = 0;   // hash of the tokens before it
    int32_t next_in_bucket = -1;
    int32_t num_claims = 0;  // waiting sequences that will resume from it
    int32_t num_pins = 0;
    uint64_t number = 0;       // identifies it among all that were ever in its slot
    int32_t num_uses = 0;      // expected, later counted
    int64_t worth = 0;         // tokens saved by its uses, plus the eviction level at its last use
    uint64_t last_use = 0;     // sequence number of the use; breaks ties
    int32_t queue_index = -1;  // index in eviction_queue_
  };
  struct BlockKey {  // the start of a block: tokens that follow those of `parent`
    int32_t parent;
    std::string_view salt;
    std::span<const int32_t> tokens;
  };
  struct Neighbours {
    int32_t before = -1;  // the last child whose tokens precede those of a key
    int32_t from = -1;    // the child after it; one of the two shares the most tokens with the key
  };

  Node& node(int32_t block) noexcept { return nodes_[block]; }
  const Node& node(int32_t block) const noexcept { return nodes_[block]; }
  Checkpoint& checkpoint(int32_t slot) noexcept { return checkpoints_[slot]; }
  const Checkpoint& checkpoint(int32_t slot) const noexcept { return checkpoints_[slot]; }
  std::span<const int32_t> tokens_of(int32_t block) const noexcept;
  int32_t& children_of(int32_t parent) noexcept { return parent < 0 ? roots_ : node(parent).children; }
  int32_t children_of(int32_t parent) const noexcept { return parent < 0 ? roots_ : node(parent).children; }
  int32_t& num_below(int32_t parent) noexcept { return parent < 0 ? num_below_roots_ : node(parent).num_below; }
  int32_t num_below(int32_t parent) const noexcept { return parent < 0 ? num_below_roots_ : node(parent).num_below; }

  // The search trees (prefix_children.cpp).
  int compare(int32_t block, const BlockKey& key) const noexcept;  // compares the tokens of a child with those of a key
  bool precedes(int32_t block, int32_t other) const noexcept;      // among the children of one parent
  int32_t common(int32_t block, const BlockKey& key) const noexcept;  // number of common tokens; 0 if block is -1
  bool covers(int32_t block, const BlockKey& key) const noexcept;     // block starts with all tokens of the key
  Neighbours neighbours(const BlockKey& key) const noexcept;
  int32_t next_sibling(int32_t block) const noexcept;
  int32_t find_covering(const BlockKey& key, int32_t other_than) const noexcept;
  void add_child(int32_t block) noexcept;
  void remove_child(int32_t block) noexcept;
  int32_t inserted(int32_t root, int32_t block) noexcept;
  void split(int32_t root, int32_t block, int32_t& left, int32_t& right) noexcept;
  int32_t joined(int32_t left, int32_t right) noexcept;

  int32_t find_checkpoint(const BlockKey& key, uint64_t hash) const noexcept;
  void find_state(std::string_view salt, std::span<const int32_t> tokens, int32_t limit, int32_t num_common,
                  Match& match) const noexcept;
  int32_t& bucket_of(uint64_t hash) noexcept { return buckets_[hash & (buckets_.size() - 1)]; }

  void insert(const BlockKey& key, int32_t block);  // if it is already in the tree, gives it all tokens of the key
  void erase(int32_t block) noexcept;               // including everything below it
  void absorb_shorter(int32_t block, const BlockKey& key) noexcept;
  void move_checkpoints(int32_t from, int32_t to) noexcept;
  void attach(int32_t slot, int32_t block, int32_t length) noexcept;
  void detach(int32_t slot) noexcept;
  void remove_checkpoint(int32_t slot) noexcept;

  // The queue of checkpoints by their worth (checkpoint_queue.cpp).
  bool goes_before(int32_t slot, int32_t other) const noexcept;
  int32_t tokens_saved(int32_t slot) const noexcept;
  void enqueue(int32_t slot, int32_t num_uses) noexcept;
  void dequeue(int32_t slot) noexcept;
  void appraise(int32_t slot) noexcept;  // it was used now, num_uses times in total
  void place_in_queue(int32_t slot, size_t index) noexcept;
  void sift(size_t index) noexcept;

  // Locked by the engine's thread while it changes data that find() reads; its own reads need no lock.
  mutable std::mutex mutex_;
  BlockManager& blocks_;
  StatePool& states_;
  bool has_state_;
  int32_t max_checkpoints_;
  std::vector<Node> nodes_;              // [num_blocks]
  std::vector<int32_t> tokens_;          // [num_blocks, block_size]
  std::vector<Checkpoint> checkpoints_;  // [num_slots]
  std::vector<int32_t> buckets_;         // a power of two of them: the first checkpoint of each, by Checkpoint::hash
  int32_t roots_ = -1;                   // search tree of the nodes without parent
  int32_t num_below_roots_ = 0;
  std::vector<int32_t> eviction_queue_;  // a heap: the first is evicted next
  int64_t worth_given_up_ = 0;           // the greatest value of the evicted checkpoints
  uint64_t num_uses_ = 0;
  uint64_t version_ = 1, num_added_ = 0;
  int32_t num_checkpoints_ = 0;  // including reserved and adopted slots
  int64_t num_nodes_ = 0, num_checkpoint_evictions_ = 0, num_checkpoint_hits_ = 0;
};

}  // namespace pagoda::cache
