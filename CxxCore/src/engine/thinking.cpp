// Thinking is recognised by token ids: text that merely spells the tags neither opens nor closes it.
#include "engine/thinking.h"

#include <algorithm>

namespace pagoda::engine {

ThinkingFormat find_thinking_format(const text::SubwordTokenizer* tokenizer, int32_t vocab_size) {
  ThinkingFormat format;
  if (!tokenizer) return format;
  const int32_t open = tokenizer->find_token("<think>"), close = tokenizer->find_token("</think>");
  if (open < 0 || close < 0 || !tokenizer->is_verbatim(open) || !tokenizer->is_verbatim(close)) return format;
  if (!tokenizer->encode("\n\n", /*parse_special=*/false, format.after_close).is_ok()) return format;
  const auto is_unknown = [&](int32_t id) { return id >= vocab_size; };
  if (is_unknown(open) || is_unknown(close) || std::ranges::any_of(format.after_close, is_unknown)) return format;
  format.open_id = open;
  format.close_id = close;
  return format;
}

Thinking::Thinking(const ThinkingFormat& format, std::span<const int32_t> prompt, int32_t budget)
    : format_(&format), budget_(budget) {
  for (size_t i = prompt.size(); format.is_known() && i-- > 0;) {
    if (prompt[i] != format.open_id && prompt[i] != format.close_id) continue;
    is_open_ = prompt[i] == format.open_id;
    return;
  }
}

int32_t Thinking::forced_id() const noexcept {
  if (is_open_ && budget_ >= 0 && num_thought_ >= budget_) return format_->close_id;
  return was_cut_ && num_written_ < format_->after_close.size() ? format_->after_close[num_written_] : -1;
}

void Thinking::note(int32_t token_id) noexcept {
  if (!format_ || !format_->is_known()) return;
  const int32_t forced = forced_id();
  if (forced >= 0 && was_cut_ && !is_open_) ++num_written_;
  if (token_id == format_->close_id) {
    was_cut_ = forced == token_id;
    num_written_ = 0;
    is_open_ = false;
  } else if (token_id == format_->open_id && !is_open_) {
    is_open_ = true;
    num_thought_ = 0;
  } else if (is_open_) {
    ++num_thought_;
  }
}

}  // namespace pagoda::engine
