// Detokenizer: turns the tokens of one answer into text incrementally; its output is always valid UTF-8.
#pragma once

#include <cstdint>
#include <string>

#include "text/bpe/tokenizer.h"

namespace pagoda::text {

class Detokenizer {
 public:
  explicit Detokenizer(const SubwordTokenizer* tokenizer, bool skip_special) noexcept
      : tokenizer_(tokenizer), skip_special_(skip_special), strip_(tokenizer->strip()) {}

  // Appends to `out` the characters that `token_id` completes; bytes of an incomplete character are buffered.
  void push(int32_t token_id, std::string& out);

  // End of the answer: an incomplete character becomes U+FFFD.
  void finish(std::string& out);

 private:
  const SubwordTokenizer* tokenizer_;
  bool skip_special_;
  SentencePieceRules::Strip strip_;  // what to strip from the start of the next text
  std::string pending_;              // at most 3 bytes of an incomplete character
};

}  // namespace pagoda::text
