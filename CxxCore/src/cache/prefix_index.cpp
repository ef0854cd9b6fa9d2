// PrefixIndex: traversal and modification of the tree of blocks.
#include "cache/prefix_index.h"

#include <algorithm>
#include <bit>

namespace pagoda::cache {

PrefixIndex::PrefixIndex(BlockManager& blocks, StatePool& states, bool has_state, int32_t max_checkpoints)
    : blocks_(blocks),
      states_(states),
      has_state_(has_state),
      max_checkpoints_(max_checkpoints),
      nodes_(static_cast<size_t>(blocks.num_blocks())),
      tokens_(static_cast<size_t>(blocks.num_blocks() * blocks.block_size())),
      checkpoints_(static_cast<size_t>(states.num_slots())),
      buckets_(std::bit_ceil(static_cast<size_t>(states.num_slots()) + 1), -1) {
  eviction_queue_.reserve(checkpoints_.size());
  blocks_.set_keeper([this](int32_t block) {
    const std::lock_guard lock(mutex_);
    erase(block);
  });
}

std::span<const int32_t> PrefixIndex::tokens_of(int32_t block) const noexcept {
  const size_t block_size = static_cast<size_t>(blocks_.block_size());
  return {tokens_.data() + static_cast<size_t>(block) * block_size, static_cast<size_t>(node(block).num_tokens)};
}

PrefixIndex::Match PrefixIndex::find(std::string_view salt, std::span<const int32_t> tokens,
                                     int32_t limit) const noexcept {
  Match match;
  for (;;) {
    const BlockKey key{match.matched_block, salt, tokens.subspan(static_cast<size_t>(match.num_matched))};
    const Neighbours near = neighbours(key);
    const int32_t before = common(near.before, key), from = common(near.from, key);
    const int32_t longest = before > from ? near.before : near.from, num_common = std::max(before, from);
    match.num_matched += num_common;
    if (!has_state_ && num_common > 0 && std::min(match.num_matched, limit) > match.num_tokens)
      match.num_tokens = std::min(match.num_matched, limit), match.block = longest;
    if (num_common < blocks_.block_size()) {
      if (has_state_) find_state(salt, tokens, limit, num_common, match);
      return match;
    }
    match.matched_block = longest;
  }
}

void PrefixIndex::chain_to(int32_t block, std::vector<int32_t>& table) const {
  const auto first = table.end() - table.begin();
  for (; block >= 0; block = node(block).parent) table.push_back(block);
  std::reverse(table.begin() + first, table.end());
}

int32_t PrefixIndex::publish(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block) {
  const std::lock_guard lock(mutex_);
  const BlockKey key{parent, salt, tokens};
  if (const int32_t other = find_covering(key, block); other >= 0) {
    if (node(block).num_tokens > 0) {
      move_checkpoints(block, other);
      erase(block);
      blocks_.drop(block);
    }
    return other;
  }
  insert(key, block);
  absorb_shorter(block, key);
  return block;
}

void PrefixIndex::publish_end(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block) {
  const std::lock_guard lock(mutex_);
  const BlockKey key{parent, salt, tokens};
  if (node(block).num_tokens > 0 || find_covering(key, block) < 0) insert(key, block);
}

// A block that is already in the tree with fewer of its tokens moves to the position of all of them.
void PrefixIndex::insert(const BlockKey& key, int32_t block) {
  Node& n = node(block);
  if (n.num_tokens > 0) {
    remove_child(block);
  } else {
    n.parent = key.parent;
    if (key.parent < 0) n.salt = key.salt;
    ++num_nodes_;
    blocks_.keep(block);
  }
  if (!has_state_) ++version_;
  n.num_tokens = static_cast<int32_t>(key.tokens.size());
  const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(block) * blocks_.block_size();
  std::copy(key.tokens.begin(), key.tokens.end(), first);
  add_child(block);
}

// Takes over the checkpoints of other prompts' last blocks that this block continues; those blocks become free.
void PrefixIndex::absorb_shorter(int32_t block, const BlockKey& key) noexcept {
  for (int32_t length = static_cast<int32_t>(key.tokens.size()); length > 0;) {
    const BlockKey beginning{key.parent, key.salt, key.tokens.first(static_cast<size_t>(length))};
    const Neighbours near = neighbours(beginning);
    for (int32_t other = near.from, next; other >= 0 && compare(other, beginning) == 0; other = next) {
      next = next_sibling(other);
      if (other == block || blocks_.ref_count(other) > 0) continue;
      move_checkpoints(other, block);
      erase(other);
      blocks_.drop(other);
    }
    length = std::min(length - 1, common(near.before, beginning));  // no prefix between these is shared
  }
}

void PrefixIndex::clear() noexcept {
  const std::lock_guard lock(mutex_);
  while (roots_ >= 0) {
    const int32_t block = roots_;
    erase(block);
    blocks_.drop(block);
  }
}

// A child never outlives its parent, because a sequence releases its blocks from last to first.
// Erasing the children anyway keeps the tree consistent should that ever change.
void PrefixIndex::erase(int32_t block) noexcept {
  Node& n = node(block);
  while (n.children >= 0) {
    const int32_t child = n.children;
    erase(child);
    blocks_.drop(child);
  }
  while (n.first_checkpoint >= 0) {
    ++num_checkpoint_evictions_;
    remove_checkpoint(n.first_checkpoint);
  }
  remove_child(block);
  if (!has_state_) ++version_;
  n.num_tokens = 0;
  n.parent = kNoBlock;
  n.salt.clear();
  --num_nodes_;
}

}  // namespace pagoda::cache
