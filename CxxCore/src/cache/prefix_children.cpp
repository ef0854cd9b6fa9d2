// PrefixIndex: the children of a node as a search tree in the order of their tokens, balanced by random priorities.
#include <algorithm>

#include "cache/prefix_index.h"

namespace pagoda::cache {

// Mixes the id, so that blocks allocated in order do not degenerate the tree to a list.
static uint32_t priority(int32_t block) noexcept {
  uint32_t x = static_cast<uint32_t>(block) * 0x9e3779b1u;
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  return x ^ (x >> 13);
}

static int compare_tokens(std::span<const int32_t> a, std::span<const int32_t> b) noexcept {
  const size_t most = std::min(a.size(), b.size());
  for (size_t i = 0; i < most; ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return a.size() < b.size() ? -1 : a.size() > b.size();
}

int PrefixIndex::compare(int32_t block, const BlockKey& key) const noexcept {
  const int salts = key.parent < 0 ? std::string_view(node(block).salt).compare(key.salt) : 0;
  return salts != 0 ? salts : compare_tokens(tokens_of(block), key.tokens);
}

bool PrefixIndex::precedes(int32_t block, int32_t other) const noexcept {
  const Node& n = node(other);
  const int order = compare(block, {n.parent, n.salt, tokens_of(other)});
  return order != 0 ? order < 0 : block < other;
}

int32_t PrefixIndex::common(int32_t block, const BlockKey& key) const noexcept {
  if (block < 0 || (key.parent < 0 && node(block).salt != key.salt)) return 0;
  const std::span<const int32_t> tokens = tokens_of(block);
  return static_cast<int32_t>(std::ranges::mismatch(tokens, key.tokens).in1 - tokens.begin());
}

bool PrefixIndex::covers(int32_t block, const BlockKey& key) const noexcept {
  return common(block, key) == static_cast<int32_t>(key.tokens.size());
}

PrefixIndex::Neighbours PrefixIndex::neighbours(const BlockKey& key) const noexcept {
  Neighbours near;
  for (int32_t block = children_of(key.parent); block >= 0;) {
    const bool is_before = compare(block, key) < 0;
    (is_before ? near.before : near.from) = block;
    block = is_before ? node(block).right : node(block).left;
  }
  return near;
}

int32_t PrefixIndex::next_sibling(int32_t block) const noexcept {
  int32_t next = -1;
  for (int32_t other = children_of(node(block).parent); other >= 0;) {
    const bool is_later = precedes(block, other);
    if (is_later) next = other;
    other = is_later ? node(other).left : node(other).right;
  }
  return next;
}

// Children with the same leading tokens are adjacent in the order; the first of them is neighbours().from.
int32_t PrefixIndex::find_covering(const BlockKey& key, int32_t other_than) const noexcept {
  int32_t block = neighbours(key).from;
  if (block >= 0 && block == other_than) block = next_sibling(block);
  return block >= 0 && covers(block, key) ? block : -1;
}

void PrefixIndex::add_child(int32_t block) noexcept {
  int32_t& root = children_of(node(block).parent);
  node(block).left = node(block).right = -1;
  root = inserted(root, block);
}

void PrefixIndex::remove_child(int32_t block) noexcept {
  int32_t* link = &children_of(node(block).parent);
  while (*link != block) link = precedes(block, *link) ? &node(*link).left : &node(*link).right;
  *link = joined(node(block).left, node(block).right);
}

// The search tree `root` with `block` in it: below nodes of higher priority, above all others.
int32_t PrefixIndex::inserted(int32_t root, int32_t block) noexcept {
  if (root < 0) return block;
  if (priority(block) > priority(root)) {
    split(root, block, node(block).left, node(block).right);
    return block;
  }
  int32_t& side = precedes(block, root) ? node(root).left : node(root).right;
  side = inserted(side, block);
  return root;
}

// Splits the search tree `root` into the nodes before `block` and those after it.
void PrefixIndex::split(int32_t root, int32_t block, int32_t& left, int32_t& right) noexcept {
  if (root < 0) {
    left = right = -1;
  } else if (precedes(root, block)) {
    left = root;
    split(node(root).right, block, node(root).right, right);
  } else {
    right = root;
    split(node(root).left, block, left, node(root).left);
  }
}

int32_t PrefixIndex::joined(int32_t left, int32_t right) noexcept {
  if (left < 0 || right < 0) return std::max(left, right);
  const bool is_left = priority(left) > priority(right);
  int32_t& side = is_left ? node(left).right : node(right).left;
  side = is_left ? joined(side, right) : joined(left, side);
  return is_left ? left : right;
}

}  // namespace pagoda::cache
