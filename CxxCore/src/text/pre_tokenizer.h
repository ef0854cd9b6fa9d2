// PreTokenizer: splits text into the words that BPE works on. Patterns are recognised by their exact text and matched
// by hand-written code: a general regex engine would be slower, larger, and exposed to hostile patterns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pagoda::text {

enum class WordPattern : uint8_t {
  qwen2,          // one digit at a time
  qwen3_5,        // the same, but marks count as letters
  llama3,         // digits in threes
  gpt2,           // the built-in pattern of ByteLevel
  number,         // \p{N}: each number character alone, the rest unsplit
  number_triple,  // \p{N}{1,3}
  number_run,     // \p{N}+
  decimal,        // \d
  kimi,           // runs of Han characters; words end where upper case follows lower case
  line_end,       // this and the next four: deepseek-llm
  cased,
  punctuation,
  last_spaces,
  east_asian,
};

// End of the word that starts at `begin` in `text` (valid UTF-8, begin < size).
size_t find_word_end(WordPattern pattern, std::string_view text, size_t begin) noexcept;

class PreTokenizer {
 public:
  static constexpr size_t kMaxStages = 6;

  // Reads the value of `pre_tokenizer`; messages begin with `file_name`.
  static Result<PreTokenizer> from_json(const io::Json& json, const std::string& file_name);

  // Each stage splits the words of the previous one; without stages the text stays whole.
  const std::vector<WordPattern>& stages() const noexcept { return stages_; }

 private:
  Status add(const io::Json& json, const std::string& file_name);
  Status add_stage(WordPattern pattern, const std::string& file_name);
  Status add_split(const io::Json& json, const std::string& file_name);
  std::vector<WordPattern> stages_;
  bool is_byte_level_ = false;
};

// The words of one text, in order.
class WordCutter {
 public:
  WordCutter(const PreTokenizer& pre_tokenizer, std::string_view text) noexcept
      : stages_(pre_tokenizer.stages()), text_(text) {}

  bool next(std::string_view& word) noexcept {
    if (begin_ == text_.size()) return false;
    size_t end = text_.size();
    for (size_t s = 0; s < stages_.size(); ++s) {
      if (ends_[s] == begin_) ends_[s] = find_word_end(stages_[s], text_.substr(0, end), begin_);
      end = ends_[s];
    }
    word = text_.substr(begin_, end - begin_);
    begin_ = end;
    return true;
  }

 private:
  const std::vector<WordPattern>& stages_;
  std::string_view text_;
  size_t begin_ = 0;
  std::array<size_t, PreTokenizer::kMaxStages> ends_{};  // end of each stage's current word
};

}  // namespace pagoda::text
