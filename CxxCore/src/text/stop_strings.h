// StopStrings: watches a stream of text for strings that end it and holds back what may be the start of one.
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

  // Takes new text; appends to `out` what can no longer be part of a stop string. True when a stop string was found:
  // the text before it has been appended and the rest is dropped; matched() says which (of those ending first, the
  // longest-starting one: the earliest start wins). When `armed` is false nothing stops and nothing is held back.
  bool push(std::string_view text, bool armed, std::string& out);

  // End of the stream without a match: what was held back.
  void finish(std::string& out);
  const std::string& matched() const noexcept { return matched_; }

 private:
  // Where the trie goes on from when a byte does not fit: the longest suffix that is a prefix of a stop (Aho-Corasick).
  struct Fallback {
    int32_t node = ByteTrie::kRoot;
    int32_t depth = 0;               // bytes of the prefix this node stands for
    int32_t stop = ByteTrie::kNone;  // the longest stop that ends here
  };
  void link_fallbacks();
  int32_t next_node(int32_t node, char byte) const noexcept;

  std::vector<std::string> stops_;
  ByteTrie trie_;
  std::vector<Fallback> fallbacks_;  // one per node
  int32_t node_ = ByteTrie::kRoot;   // stands for what is held back
  std::string held_;                 // from held_begin_ on; the bytes before it are given out already
  size_t held_begin_ = 0;
  std::string matched_;
};

}  // namespace pagoda::text
