// ByteTrie: a set of byte strings, walked one byte at a time. Immutable once built; any thread may walk it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pagoda::text {

class ByteTrie {
 public:
  static constexpr int32_t kNone = -1;
  static constexpr int32_t kRoot = 0;

  int32_t insert(std::string_view bytes, int32_t value) {  // returns its final node; later values replace earlier ones
    int32_t node = kRoot;
    for (const char byte : bytes) {
      int32_t next = child(node, byte);
      if (next == kNone) {
        next = static_cast<int32_t>(nodes_.size());
        nodes_.push_back({byte, kNone, nodes_[node].first_child, kNone});
        nodes_[node].first_child = next;
      }
      node = next;
    }
    nodes_[node].value = value;
    return node;
  }

  int32_t child(int32_t node, char byte) const noexcept {
    int32_t next = nodes_[node].first_child;
    while (next != kNone && nodes_[next].byte != byte) next = nodes_[next].next_sibling;
    return next;
  }

  int32_t value(int32_t node) const noexcept { return nodes_[node].value; }
  int32_t num_nodes() const noexcept { return static_cast<int32_t>(nodes_.size()); }
  char byte(int32_t node) const noexcept { return nodes_[node].byte; }
  int32_t first_child(int32_t node) const noexcept { return nodes_[node].first_child; }
  int32_t next_sibling(int32_t node) const noexcept { return nodes_[node].next_sibling; }

 private:
  struct Node {
    char byte;
    int32_t first_child, next_sibling;
    int32_t value;  // of the string ending here, or kNone
  };
  std::vector<Node> nodes_{{'\0', kNone, kNone, kNone}};
};

}  // namespace pagoda::text
