// AddedTokens: the tokens that are matched in the text before it is split into words. Immutable once built.
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
  bool normalized = false;   // matched after normalisation, else before
  bool lstrip = false;       // also consumes the spaces before it
  bool rstrip = false;       // also consumes the spaces after it
  bool single_word = false;  // not adjacent to a letter or digit

  // Spelled like markup, such as <think> and <tool_call>, which tokenizer files do not mark as special. Other added
  // tokens (runs of spaces, domain terms) are always text.
  bool is_tag() const noexcept;
};

// Which added tokens are recognised only where the template wrote them.
enum class TemplateTokens : uint8_t {
  special,           // as the reference tokenizer does
  special_and_tags,  // in a prompt rendered from a template and from message text
};

// A matched token, or the text between tokens.
struct TextPart {
  static constexpr int32_t kText = -1;
  std::string_view text;
  size_t begin = 0;  // offset of `text` in the input
  int32_t id = kText;
};

class AddedTokens {
 public:
  void add(AddedToken token, std::string_view spelling);  // spelling: as it appears in the text to be split
  bool is_empty() const noexcept { return tokens_.empty(); }

  // Splits `text` (covered by `runs`) into parts: at each position the longest token wins. `template_tokens` must be in
  // one run; in a run that is not the template's, their spelling stays text and nothing is matched inside it.
  void cut(std::string_view text, const std::vector<OriginRun>& runs, TemplateTokens template_tokens,
           std::vector<TextPart>& parts) const;

 private:
  // The longest token that begins at `begin`; template tokens must end by `run_end`.
  const AddedToken* longest_at(std::string_view text, size_t begin, TemplateTokens template_tokens, size_t run_end,
                               size_t& end) const noexcept;

  ByteTrie trie_;
  std::bitset<256> first_bytes_;
  std::vector<AddedToken> tokens_;
};

}  // namespace pagoda::text
