// PrefixIndex: checkpoints, which occupy slots, are attached to blocks, and are evicted when they are worth least.
#include <algorithm>
#include <array>
#include <mutex>

#include "cache/prefix_index.h"

namespace pagoda::cache {

static uint64_t mixed(uint64_t hash, uint64_t value) noexcept {
  const uint64_t x = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}

static uint64_t hash_of_parent(int32_t parent, std::string_view salt) noexcept {
  uint64_t hash = static_cast<uint32_t>(parent);
  if (parent < 0)
    for (const char c : salt) hash = mixed(hash, static_cast<uint8_t>(c));
  return mixed(hash, 0);
}

static uint64_t hash_of(int32_t parent, std::string_view salt, std::span<const int32_t> tokens) noexcept {
  uint64_t hash = hash_of_parent(parent, salt);
  for (const int32_t token : tokens) hash = mixed(hash, static_cast<uint32_t>(token));
  return hash;
}

int32_t PrefixIndex::find_checkpoint(const BlockKey& key, uint64_t hash) const noexcept {
  for (int32_t slot = buckets_[hash & (buckets_.size() - 1)]; slot >= 0; slot = checkpoint(slot).next_in_bucket) {
    const Checkpoint& c = checkpoint(slot);
    const bool has_key = c.hash == hash && c.length == static_cast<int32_t>(key.tokens.size()) &&
                         node(c.block).parent == key.parent && covers(c.block, key);
    if (has_key) return slot;
  }
  return -1;
}

// Searches back from where the prompt diverges from the tree to the nearest state. Blocks whose children have no state
// cost nothing.
void PrefixIndex::find_state(std::string_view salt, std::span<const int32_t> tokens, int32_t limit, int32_t num_common,
                             Match& match) const noexcept {
  int32_t parent = match.matched_block, position = match.num_matched - num_common;
  for (int32_t most = num_common;; most = blocks_.block_size()) {
    if (num_below(parent) > 0 && most > 0) {
      std::array<uint64_t, kMaxBlockSize + 1> hashes;
      hashes[0] = hash_of_parent(parent, salt);
      for (int32_t i = 0; i < most; ++i) hashes[i + 1] = mixed(hashes[i], static_cast<uint32_t>(tokens[position + i]));
      for (int32_t length = std::min(most, limit - position); length > 0; --length) {
        const auto chunk = tokens.subspan(static_cast<size_t>(position), static_cast<size_t>(length));
        const int32_t slot = find_checkpoint({parent, salt, chunk}, hashes[length]);
        if (slot < 0) continue;
        match.num_tokens = position + length;
        match.block = checkpoint(slot).block;
        match.slot = slot;
        return;
      }
    }
    if (parent < 0) return;
    parent = node(parent).parent;
    position -= blocks_.block_size();
  }
}

bool PrefixIndex::adopt_slot(bool is_awaited) noexcept {
  if (num_checkpoints_ == max_checkpoints_) {
    if (eviction_queue_.empty()) return false;  // there are none, or all are only reserved
    if (checkpoint(eviction_queue_.front()).num_pins > 0) return false;
    if (!is_awaited && checkpoint(eviction_queue_.front()).num_claims > 0) return false;
    const std::lock_guard lock(mutex_);
    ++num_checkpoint_evictions_;
    worth_given_up_ = std::max(worth_given_up_, checkpoint(eviction_queue_.front()).worth);
    remove_checkpoint(eviction_queue_.front());
  }
  ++num_checkpoints_;
  return true;
}

int32_t PrefixIndex::reserve_slot(bool is_awaited) noexcept { return adopt_slot(is_awaited) ? states_.acquire() : -1; }

void PrefixIndex::give_back_slot(int32_t slot) noexcept {
  --num_checkpoints_;
  states_.release(slot);
}

bool PrefixIndex::add_checkpoint(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block,
                                 int32_t slot, int32_t num_uses) {
  const std::lock_guard lock(mutex_);
  const BlockKey key{parent, salt, tokens};
  if (const int32_t existing = find_checkpoint(key, hash_of(parent, salt, tokens)); existing >= 0) {
    appraise(existing);
    give_back_slot(slot);
    return false;
  }
  int32_t carrier = node(block).num_tokens > 0 && covers(block, key) ? block : find_covering(key, block);
  if (carrier < 0) {
    insert(key, block);
    carrier = block;
  }
  attach(slot, carrier, static_cast<int32_t>(tokens.size()));
  enqueue(slot, num_uses);
  return true;
}

// Both are children of one parent, and `to` continues `from`. No offset has two checkpoints, so `to` has none there.
void PrefixIndex::move_checkpoints(int32_t from, int32_t to) noexcept {
  while (node(from).first_checkpoint >= 0) {
    const int32_t slot = node(from).first_checkpoint;
    const int32_t length = checkpoint(slot).length;
    detach(slot);
    attach(slot, to, length);
  }
}

void PrefixIndex::attach(int32_t slot, int32_t block, int32_t length) noexcept {
  Checkpoint& c = checkpoint(slot);
  Node& n = node(block);
  c.block = block;
  c.length = length;
  c.next = n.first_checkpoint;
  n.first_checkpoint = slot;
  ++num_below(n.parent);
  ++version_;
  c.hash = hash_of(n.parent, n.salt, tokens_of(block).first(static_cast<size_t>(length)));
  c.next_in_bucket = bucket_of(c.hash);
  bucket_of(c.hash) = slot;
}

void PrefixIndex::detach(int32_t slot) noexcept {
  Checkpoint& c = checkpoint(slot);
  int32_t* link = &node(c.block).first_checkpoint;
  while (*link != slot) link = &checkpoint(*link).next;
  *link = c.next;
  link = &bucket_of(c.hash);
  while (*link != slot) link = &checkpoint(*link).next_in_bucket;
  *link = c.next_in_bucket;
  --num_below(node(c.block).parent);
  ++version_;
  c.block = -1;
}

void PrefixIndex::remove_checkpoint(int32_t slot) noexcept {
  detach(slot);
  dequeue(slot);
  give_back_slot(slot);
}

void PrefixIndex::expect_uses(int32_t slot, int32_t num_uses) noexcept {
  checkpoint(slot).num_uses = std::max(checkpoint(slot).num_uses, num_uses);
  appraise(slot);
}

uint64_t PrefixIndex::claim(int32_t slot) noexcept {
  ++checkpoint(slot).num_claims;
  sift(static_cast<size_t>(checkpoint(slot).queue_index));
  return checkpoint(slot).number;
}

void PrefixIndex::unclaim(int32_t slot, uint64_t claim) noexcept {
  if (slot < 0 || checkpoint(slot).number != claim || checkpoint(slot).queue_index < 0) return;
  --checkpoint(slot).num_claims;
  sift(static_cast<size_t>(checkpoint(slot).queue_index));
}

uint64_t PrefixIndex::pin(int32_t slot) noexcept {
  ++checkpoint(slot).num_pins;
  sift(static_cast<size_t>(checkpoint(slot).queue_index));
  return checkpoint(slot).number;
}

void PrefixIndex::unpin(int32_t slot, uint64_t pin) noexcept {
  if (slot < 0 || checkpoint(slot).number != pin || checkpoint(slot).queue_index < 0) return;
  --checkpoint(slot).num_pins;
  sift(static_cast<size_t>(checkpoint(slot).queue_index));
}

void PrefixIndex::touch(int32_t slot) noexcept {
  ++num_checkpoint_hits_;
  if (checkpoint(slot).block < 0) return;  // its block was evicted to admit the sequence that uses it
  ++checkpoint(slot).num_uses;
  appraise(slot);
}

}  // namespace pagoda::cache
