// AnswerText: the text of an answer from its tokens, up to a stop string. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/bpe/tokenizer.h"
#include "text/detokenizer.h"
#include "text/stop_strings.h"

namespace pagoda::engine {

class AnswerText {
 public:
  explicit AnswerText(std::vector<std::string> stops) : stop_strings_(std::move(stops)) {}

  // Without this there is no text, and events carry ids only. The tokenizer must outlive this.
  void open(const text::SubwordTokenizer* tokenizer) { detokenizer_.emplace(tokenizer, /*skip_special=*/true); }
  // Of a chat: stop strings belong to the answer, so that neither the thinking, including its tags, nor the white space
  // after it ends the text.
  void split_thinking(bool splits) noexcept { splits_thinking_ = splits; }

  // Appends the text that a token completes. `is_thought`: it belongs to the thinking; `armed`: stop strings may end
  // the text. True if one has ended it.
  bool push(int32_t token_id, bool is_thought, bool armed, std::string& out);
  void finish(std::string& out);  // the rest, after the last token; nothing if a stop string ended the text
  const std::string& matched() const noexcept { return stop_strings_.matched(); }  // that stop string

 private:
  std::optional<text::Detokenizer> detokenizer_;
  text::StopStrings stop_strings_;
  bool splits_thinking_ = true;
  bool is_before_answer_ = false;  // in the thinking, or in the white space after it
};

}  // namespace pagoda::engine
