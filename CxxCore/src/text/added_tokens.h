// AddedTokens: the tokens that are looked for in the text itself before it is cut into words. Immutable once built.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_trie.h"
#include "text/normalizer.h"

namespace pagoda::text {

struct AddedToken {
  int32_t id = -1;
  std::string content;
  bool special = false;      // a control token
  bool normalized = false;   // looked for after normalisation, else before
  bool lstrip = false;       // takes the spaces before it along
  bool rstrip = false;       // takes the spaces after it along
  bool single_word = false;  // not where a letter or digit touches it
};

// A token that was found, or text between tokens.
struct TextPart {
  static constexpr int32_t kText = -1;
  std::string_view text;
  size_t begin = 0;  // of `text` in what was cut
  int32_t id = kText;
};

class AddedTokens {
 public:
  void add(AddedToken token, std::string_view spelling);  // spelling: as it stands in the text that will be cut
  bool is_empty() const noexcept { return tokens_.empty(); }

  // Cuts `text` (covered by `runs`) into parts: at each place the longest token wins. Special tokens must lie within
  // one run; in a run that is not the template's their spelling stays text, and nothing else is looked for inside it.
  void cut(std::string_view text, const std::vector<OriginRun>& runs, std::vector<TextPart>& parts) const;

 private:
  // The longest token that begins at `begin`; special ones must end by `special_end`.
  const AddedToken* longest_at(std::string_view text, size_t begin, size_t special_end, size_t& end) const noexcept;

  ByteTrie trie_;
  std::bitset<256> first_bytes_;
  std::vector<AddedToken> tokens_;
};

}  // namespace pagoda::text
