// Buffers the bytes of an incomplete character until later tokens complete it.
#include "text/detokenizer.h"

#include <utility>

#include "text/unicode/unicode.h"

namespace pagoda::text {

void Detokenizer::push(int32_t token_id, std::string& out) {
  if (skip_special_ && tokenizer_->is_special(token_id)) return;
  const std::string_view bytes = tokenizer_->token_bytes(token_id);
  const SentencePieceRules::Strip strip = bytes.empty() ? SentencePieceRules::Strip::none : std::exchange(strip_, {});
  const bool loses_one = strip == SentencePieceRules::Strip::one_space && bytes.front() == ' ';
  for (const char c : bytes.substr(loses_one ? 1 : 0))
    if (strip != SentencePieceRules::Strip::first_token || c != ' ') pending_ += c;
  size_t begin = 0, offset = 0;  // [begin, offset) is valid and not yet emitted
  while (offset < pending_.size()) {
    const Utf8Step step = utf8_step(pending_.data() + offset, pending_.size() - offset);
    if (step.kind == Utf8Step::Kind::unfinished) break;
    offset += step.num_bytes;
    if (step.kind == Utf8Step::Kind::character) continue;
    out.append(pending_, begin, offset - step.num_bytes - begin);
    out += kReplacement;
    begin = offset;
  }
  out.append(pending_, begin, offset - begin);
  pending_.erase(0, offset);
}

void Detokenizer::finish(std::string& out) {
  if (!pending_.empty()) out += kReplacement;
  pending_.clear();
}

}  // namespace pagoda::text
