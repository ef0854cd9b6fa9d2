// PrefixIndex: walking and changing the tree of blocks.
#include "cache/prefix_index.h"

#include <algorithm>

namespace pagoda::cache {

PrefixIndex::PrefixIndex(BlockManager& blocks, StatePool& states, bool has_state, int32_t max_checkpoints)
    : blocks_(blocks),
      states_(states),
      has_state_(has_state),
      max_checkpoints_(max_checkpoints),
      nodes_(static_cast<size_t>(blocks.num_blocks())),
      tokens_(static_cast<size_t>(blocks.num_blocks() * blocks.block_size())),
      checkpoints_(static_cast<size_t>(states.num_slots())) {
  blocks_.set_keeper([this](int32_t block) { erase(block); });
}

std::span<const int32_t> PrefixIndex::tokens_of(int32_t block) const noexcept {
  const size_t block_size = static_cast<size_t>(blocks_.block_size());
  return {tokens_.data() + static_cast<size_t>(block) * block_size, static_cast<size_t>(node(block).num_tokens)};
}

bool PrefixIndex::may_follow(int32_t block, std::string_view salt) const noexcept {
  return node(block).parent >= 0 || node(block).salt == salt;
}

static size_t common_length(std::span<const int32_t> a, std::span<const int32_t> b) noexcept {
  const size_t most = std::min(a.size(), b.size());
  size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

bool PrefixIndex::covers(int32_t block, std::string_view salt, std::span<const int32_t> tokens) const noexcept {
  return may_follow(block, salt) && common_length(tokens_of(block), tokens) == tokens.size();
}

PrefixIndex::Match PrefixIndex::find(std::string_view salt, std::span<const int32_t> tokens,
                                     int32_t limit) const noexcept {
  Match match;
  int32_t parent = kNoBlock, position = 0;
  for (;;) {
    int32_t longest = -1, longest_common = 0;
    for (int32_t child = first_below(parent); child >= 0; child = node(child).next) {
      if (!may_follow(child, salt)) continue;
      const auto rest = tokens.subspan(static_cast<size_t>(position));
      const int32_t common = static_cast<int32_t>(common_length(tokens_of(child), rest));
      if (common > longest_common) longest = child, longest_common = common;
      for (int32_t slot = node(child).first_checkpoint; slot >= 0; slot = checkpoint(slot).next) {
        const int32_t length = checkpoint(slot).length, end = position + length;
        if (length <= common && end <= limit && end > match.num_tokens)
          match.num_tokens = end, match.block = child, match.slot = slot;
      }
    }
    match.num_matched = position + longest_common;
    if (!has_state_ && longest >= 0 && std::min(match.num_matched, limit) > match.num_tokens)
      match.num_tokens = std::min(match.num_matched, limit), match.block = longest;
    if (longest_common < blocks_.block_size()) return match;
    parent = match.matched_block = longest;
    position = match.num_matched;
  }
}

void PrefixIndex::chain_to(int32_t block, std::vector<int32_t>& table) const {
  const auto first = table.end() - table.begin();
  for (; block >= 0; block = node(block).parent) table.push_back(block);
  std::reverse(table.begin() + first, table.end());
}

int32_t PrefixIndex::publish(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block) {
  for (int32_t other = first_below(parent); other >= 0; other = node(other).next) {
    if (other == block || !covers(other, salt, tokens)) continue;
    if (node(block).num_tokens > 0) {
      move_checkpoints(block, other);
      erase(block);
      blocks_.drop(block);
    }
    return other;
  }
  if (node(block).num_tokens == 0) insert(parent, salt, block);
  set_tokens(block, tokens);
  absorb_shorter(block, salt);
  return block;
}

void PrefixIndex::publish_end(int32_t parent, std::string_view salt, std::span<const int32_t> tokens, int32_t block) {
  if (node(block).num_tokens > 0) return set_tokens(block, tokens);
  for (int32_t other = first_below(parent); other >= 0; other = node(other).next)
    if (covers(other, salt, tokens)) return;
  insert(parent, salt, block);
  set_tokens(block, tokens);
}

void PrefixIndex::insert(int32_t parent, std::string_view salt, int32_t block) {
  int32_t& first = parent < 0 ? first_root_ : node(parent).first_child;
  Node& n = node(block);
  n.parent = parent;
  if (parent < 0) n.salt = salt;
  n.previous = -1;
  n.next = first;
  if (first >= 0) node(first).previous = block;
  first = block;
  ++num_nodes_;
  blocks_.keep(block);
}

void PrefixIndex::set_tokens(int32_t block, std::span<const int32_t> tokens) noexcept {
  node(block).num_tokens = static_cast<int32_t>(tokens.size());
  const auto place = tokens_.begin() + static_cast<std::ptrdiff_t>(block) * blocks_.block_size();
  std::copy(tokens.begin(), tokens.end(), place);
}

// Ends of other prompts that this block goes on from: it can carry their checkpoints, and their blocks are free.
void PrefixIndex::absorb_shorter(int32_t block, std::string_view salt) noexcept {
  for (int32_t other = first_below(node(block).parent), next; other >= 0; other = next) {
    next = node(other).next;
    const bool is_end_of_another = other != block && blocks_.ref_count(other) == 0 && may_follow(other, salt);
    if (!is_end_of_another || !covers(block, salt, tokens_of(other))) continue;
    move_checkpoints(other, block);
    erase(other);
    blocks_.drop(other);
  }
}

// Children outlive their parent nowhere: whoever holds or released a block held or released those before it, later.
// Erasing them all the same keeps the tree whole should that ever change.
void PrefixIndex::erase(int32_t block) noexcept {
  Node& n = node(block);
  while (n.first_child >= 0) {
    const int32_t child = n.first_child;
    erase(child);
    blocks_.drop(child);
  }
  while (n.first_checkpoint >= 0) {
    ++num_checkpoint_evictions_;
    remove_checkpoint(n.first_checkpoint);
  }
  (n.previous >= 0 ? node(n.previous).next : n.parent >= 0 ? node(n.parent).first_child : first_root_) = n.next;
  if (n.next >= 0) node(n.next).previous = n.previous;
  n.num_tokens = 0;
  n.parent = kNoBlock;
  n.salt.clear();
  --num_nodes_;
}

}  // namespace pagoda::cache
