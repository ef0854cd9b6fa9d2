// AnswerText: detokenizes, and arms the stop strings after the thinking.
#include "engine/answer_text.h"

#include <algorithm>
#include <string_view>

namespace pagoda::engine {

bool AnswerText::push(int32_t token_id, bool is_thought, bool armed, std::string& out) {
  if (!detokenizer_) return false;
  std::string chunk;
  detokenizer_->push(token_id, chunk);
  if (is_thought && splits_thinking_) is_before_answer_ = true;
  std::string_view answer = chunk;
  if (is_before_answer_) {
    const size_t begin = is_thought ? std::string::npos : chunk.find_first_not_of(" \t\r\n");
    answer.remove_prefix(std::min(begin, chunk.size()));
    is_before_answer_ = answer.empty();
    stop_strings_.push(std::string_view(chunk).substr(0, chunk.size() - answer.size()), /*armed=*/false, out);
  }
  return !answer.empty() && stop_strings_.push(answer, armed, out);
}

void AnswerText::finish(std::string& out) {
  if (!detokenizer_ || !matched().empty()) return;
  std::string rest;
  detokenizer_->finish(rest);
  stop_strings_.push(rest, /*armed=*/false, out);
  stop_strings_.finish(out);
}

}  // namespace pagoda::engine
