// Detokenizer: turns the tokens of one answer into text piece by piece; what it gives out is always valid UTF-8.
#pragma once

#include <cstdint>
#include <string>

#include "text/bpe/tokenizer.h"

namespace pagoda::text {

class Detokenizer {
 public:
  explicit Detokenizer(const BpeTokenizer* tokenizer, bool skip_special) noexcept
      : tokenizer_(tokenizer), skip_special_(skip_special) {}

  // Appends to `out` the characters that `token_id` completes; bytes of an unfinished character wait for the next call.
  void push(int32_t token_id, std::string& out);

  // End of the answer: an unfinished character becomes U+FFFD.
  void finish(std::string& out);

 private:
  const BpeTokenizer* tokenizer_;
  bool skip_special_;
  std::string pending_;  // at most 3 bytes of an unfinished character
};

}  // namespace pagoda::text
