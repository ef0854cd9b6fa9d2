// Thinking: whether an answer is inside its thinking, determined by its tokens, and the budget that ends it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/bpe/tokenizer.h"

namespace pagoda::engine {

// How a model marks its thinking: between two special tokens.
struct ThinkingFormat {
  int32_t open_id = -1, close_id = -1;
  std::vector<int32_t> after_close;  // the tokens between the thinking and the answer

  bool is_known() const noexcept { return open_id >= 0 && close_id >= 0; }
};

// Returns an unknown format if the tokenizer (may be null) has no tokens <think> and </think>, or if their ids are not
// below `vocab_size`: a tokenizer can have more tokens than its model, and a budget forces these.
ThinkingFormat find_thinking_format(const text::SubwordTokenizer* tokenizer, int32_t vocab_size);

class Thinking {
 public:
  Thinking() = default;
  // budget: tokens of thinking; negative for no limit. The format must outlive this.
  Thinking(const ThinkingFormat& format, std::span<const int32_t> prompt, int32_t budget);

  bool is_open() const noexcept { return is_open_; }
  int32_t forced_id() const noexcept;    // the only allowed next token, or -1
  void note(int32_t token_id) noexcept;  // a token of the answer

 private:
  const ThinkingFormat* format_ = nullptr;
  int32_t budget_ = -1;
  bool is_open_ = false;
  bool was_cut_ = false;     // the budget ended it
  int32_t num_thought_ = 0;  // tokens since it was opened
  size_t num_written_ = 0;   // tokens of after_close written so far, if the budget ended it
};

}  // namespace pagoda::engine
