// Finds added tokens in text like the reference: leftmost, then longest, never overlapping.
#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "text/unicode/unicode.h"

namespace pagoda::text {

namespace {

uint8_t flags_before(std::string_view text, size_t offset) noexcept {
  size_t begin = offset - 1;
  while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return char_flags(read_character(text.data() + begin).value);
}

uint8_t flags_after(std::string_view text, size_t offset) noexcept {
  return char_flags(read_character(text.data() + offset).value);
}

bool touches_word(std::string_view text, size_t begin, size_t end) noexcept {
  return (begin > 0 && (flags_before(text, begin) & kWord)) || (end < text.size() && (flags_after(text, end) & kWord));
}

size_t strip_left(std::string_view text, size_t begin, size_t limit) noexcept {
  while (begin > limit && (flags_before(text, begin) & kSpace)) {
    do --begin;
    while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80);
  }
  return begin;
}

size_t strip_right(std::string_view text, size_t end) noexcept {
  while (end < text.size()) {
    const Character c = read_character(text.data() + end);
    if (!(char_flags(c.value) & kSpace)) break;
    end += c.num_bytes;
  }
  return end;
}

bool is_template_token(const AddedToken& token, TemplateTokens template_tokens) noexcept {
  return token.special || (template_tokens == TemplateTokens::special_and_tags && token.is_tag());
}

}  // namespace

bool AddedToken::is_tag() const noexcept {
  constexpr std::string_view kOpening = "<[{", kClosing = ">]}";
  if (content.size() < 3) return false;
  const size_t kind = kOpening.find(content.front());
  return kind != std::string_view::npos && content.back() == kClosing[kind];
}

void AddedTokens::add(AddedToken token, std::string_view spelling) {
  trie_.insert(spelling, static_cast<int32_t>(tokens_.size()));
  first_bytes_.set(static_cast<unsigned char>(spelling.front()));
  tokens_.push_back(std::move(token));
}

const AddedToken* AddedTokens::longest_at(std::string_view text, size_t begin, TemplateTokens template_tokens,
                                          size_t run_end, size_t& end) const noexcept {
  const AddedToken* found = nullptr;
  int32_t node = ByteTrie::kRoot;
  for (size_t i = begin; i < text.size(); ++i) {
    node = trie_.child(node, text[i]);
    if (node == ByteTrie::kNone) break;
    if (trie_.value(node) == ByteTrie::kNone) continue;
    const AddedToken& token = tokens_[trie_.value(node)];
    if (i + 1 > run_end && is_template_token(token, template_tokens)) continue;
    found = &token;
    end = i + 1;
  }
  return found;
}

void AddedTokens::cut(std::string_view text, const std::vector<OriginRun>& runs, TemplateTokens template_tokens,
                      std::vector<TextPart>& parts) const {
  size_t done = 0, run = 0;
  const auto add_part = [&](size_t begin, size_t end, int32_t id) {
    if (begin < end) parts.push_back({text.substr(begin, end - begin), begin, id});
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = 0;
    if (!first_bytes_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    while (runs[run].end <= at) ++run;
    const AddedToken* token = longest_at(text, at, template_tokens, runs[run].end, end);
    if (token == nullptr) {
      ++at;
      continue;
    }
    const size_t begin = at;
    at = end;
    if (!runs[run].from_template && is_template_token(*token, template_tokens)) continue;
    if (token->single_word && touches_word(text, begin, end)) continue;
    if (token->rstrip) at = strip_right(text, end);
    const size_t text_end = token->lstrip ? strip_left(text, begin, done) : begin;
    add_part(done, text_end, TextPart::kText);
    add_part(text_end, at, token->id);
    done = at;
  }
  add_part(done, text.size(), TextPart::kText);
}

}  // namespace pagoda::text
