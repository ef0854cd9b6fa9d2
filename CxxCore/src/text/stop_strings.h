// StopStrings: scans a text stream for strings that end it, and holds back text that may be the start of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"

namespace pagoda::text {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops);  // empty ones are ignored

  // Takes new text; appends to `out` the text that can no longer be part of a stop string. Returns true when a stop
  // string was found: the text before it has been appended and the rest is dropped; matched() says which (among those
  // ending first, the one with the earliest start). If `armed` is false, nothing stops and nothing is held back.
  bool push(std::string_view text, bool armed, std::string& out);

  // End of the stream without a match: releases the text held back.
  void finish(std::string& out);
  const std::string& matched() const noexcept { return matched_; }

 private:
  // Failure link of a trie node: the longest suffix that is a prefix of a stop (Aho-Corasick).
  struct Fallback {
    int32_t node = ByteTrie::kRoot;
    int32_t depth = 0;               // bytes of the prefix this node represents
    int32_t stop = ByteTrie::kNone;  // the longest stop ending here
  };
  void link_fallbacks();
  int32_t next_node(int32_t node, char byte) const noexcept;

  std::vector<std::string> stops_;
  ByteTrie trie_;
  std::vector<Fallback> fallbacks_;  // one per node
  int32_t node_ = ByteTrie::kRoot;   // represents the text held back
  std::string held_;                 // valid from held_begin_ on; earlier bytes are already released
  size_t held_begin_ = 0;
  std::string matched_;
};

}  // namespace pagoda::text
