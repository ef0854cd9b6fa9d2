// An Aho-Corasick automaton over the stop strings: each byte is examined once, however many stops there are.
#include "text/stop_strings.h"

#include <utility>

namespace pagoda::text {

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (size_t i = 0; i < stops_.size(); ++i) {
    if (!stops_[i].empty()) trie_.insert(stops_[i], static_cast<int32_t>(i));
  }
  link_fallbacks();
}

void StopStrings::link_fallbacks() {
  fallbacks_.resize(trie_.num_nodes());
  std::vector<int32_t> order{ByteTrie::kRoot};  // by depth: a node's fallback is shallower, so it is complete first
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t parent = order[i];
    for (int32_t node = trie_.first_child(parent); node != ByteTrie::kNone; node = trie_.next_sibling(node)) {
      Fallback& fallback = fallbacks_[node];
      fallback.depth = fallbacks_[parent].depth + 1;
      if (parent != ByteTrie::kRoot) fallback.node = next_node(fallbacks_[parent].node, trie_.byte(node));
      fallback.stop = trie_.value(node) != ByteTrie::kNone ? trie_.value(node) : fallbacks_[fallback.node].stop;
      order.push_back(node);
    }
  }
}

int32_t StopStrings::next_node(int32_t node, char byte) const noexcept {
  while (true) {
    const int32_t next = trie_.child(node, byte);
    if (next != ByteTrie::kNone) return next;
    if (node == ByteTrie::kRoot) return node;
    node = fallbacks_[node].node;
  }
}

bool StopStrings::push(std::string_view text, bool armed, std::string& out) {
  if (!matched_.empty()) return true;
  if (!armed) {
    finish(out);
    out += text;
    return false;
  }
  const size_t old_size = held_.size();
  held_ += text;
  for (size_t i = 0; i < text.size(); ++i) {
    node_ = next_node(node_, text[i]);
    const int32_t stop = fallbacks_[node_].stop;
    if (stop == ByteTrie::kNone) continue;
    matched_ = stops_[stop];
    const size_t begin = old_size + i + 1 - matched_.size();
    out.append(held_, held_begin_, begin - held_begin_);
    held_.clear();
    held_begin_ = 0;
    return true;
  }
  const size_t keep_from = held_.size() - static_cast<size_t>(fallbacks_[node_].depth);
  out.append(held_, held_begin_, keep_from - held_begin_);
  held_begin_ = keep_from;
  if (held_begin_ > held_.size() / 2) {  // moves each byte at most once on average
    held_.erase(0, held_begin_);
    held_begin_ = 0;
  }
  return false;
}

void StopStrings::finish(std::string& out) {
  out.append(held_, held_begin_);
  held_.clear();
  held_begin_ = 0;
  node_ = ByteTrie::kRoot;
}

}  // namespace pagoda::text
