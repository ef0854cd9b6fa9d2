// The word patterns, matched by hand: each function follows the alternatives of its regular expression in order.
#include "text/deepseek_words.h"
#include "text/pre_tokenizer.h"
#include "text/unicode/unicode.h"

namespace pagoda::text {

namespace {

struct Here {
  char32_t value;
  uint32_t num_bytes;  // 0 at the end of the text
  uint8_t flags;
};

Here look(const char* p, const char* end) noexcept {
  if (p == end) return {0, 0, 0};
  const Character c = read_character(p);
  return {c.value, c.num_bytes, char_flags(c.value)};
}

// Skips up to max_count characters that have one of the flags in `any` (or none of them, if `wanted` is false).
const char* skip(const char* p, const char* end, uint8_t any, bool wanted, size_t max_count = SIZE_MAX) noexcept {
  for (; max_count > 0 && p != end; --max_count) {
    const Here here = look(p, end);
    if (((here.flags & any) != 0) != wanted) break;
    p += here.num_bytes;
  }
  return p;
}

bool is_newline(char c) noexcept { return c == '\n' || c == '\r'; }

// 's|'t|'re|'ve|'m|'ll|'d at p, which points to an apostrophe; returns p if none matches. When ignoring case, U+017F is
// also an s.
const char* skip_contraction(const char* p, const char* end, bool ignore_case) noexcept {
  const auto letter = [&](int i) -> char {
    if (end - p <= i) return 0;
    return ignore_case && p[i] >= 'A' && p[i] <= 'Z' ? static_cast<char>(p[i] + ('a' - 'A')) : p[i];
  };
  const char first = letter(1), second = letter(2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return p + 2;
  if ((first == 'r' || first == 'v') && second == 'e') return p + 3;
  if (first == 'l' && second == 'l') return p + 3;
  if (ignore_case && first == '\xC5' && second == '\xBF') return p + 3;
  return p;
}

// \s+(?!\S)|\s+ at p, which points to a space: a run leaves its last space to the following word.
const char* skip_spaces(const char* p, const char* end) noexcept {
  const char* last = p;
  const char* next = p;
  while (next != end) {
    const Here here = look(next, end);
    if (!(here.flags & kSpace)) return last == p ? next : last;
    last = next;
    next += here.num_bytes;
  }
  return end;
}

// \s*[\r\n]+ at p: the end of the last newline in the run of spaces; p if there is none.
const char* skip_through_newlines(const char* p, const char* end) noexcept {
  const char* run_end = skip(p, end, kSpace, true);
  while (run_end != p && !is_newline(run_end[-1])) --run_end;
  return run_end;
}

// \p{N}{1,max_digits}| ?[^\s<letters>\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
const char* other_word(const char* p, const char* end, uint8_t letters, size_t max_digits) noexcept {
  const Here first = look(p, end);
  if (first.flags & kNumber) return skip(p, end, kNumber, true, max_digits);
  const char* symbols = first.value == ' ' ? p + 1 : p;
  if (const char* next = skip(symbols, end, kSpace | kNumber | letters, false); next != symbols) {
    while (next != end && is_newline(*next)) ++next;
    return next;
  }
  if (const char* next = skip_through_newlines(p, end); next != p) return next;
  return skip_spaces(p, end);
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?<letters>+|\p{N}{1,max_digits}| ?[^\s<letters>\p{N}]+[\r\n]*|
// \s*[\r\n]+|\s+(?!\S)|\s+
const char* qwen_word(const char* p, const char* end, uint8_t letters, size_t max_digits) noexcept {
  const Here first = look(p, end);
  if (first.value == '\'') {
    if (const char* next = skip_contraction(p, end, /*ignore_case=*/true); next != p) return next;
  }
  const bool may_lead = !(first.flags & (kLetter | kNumber)) && !is_newline(*p);
  const char* word = may_lead ? p + first.num_bytes : p;
  if (const char* next = skip(word, end, letters, true); next != word) return next;
  if (first.flags & letters) return p + first.num_bytes;  // a lone mark that looked like a lead
  return other_word(p, end, letters, max_digits);
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
const char* gpt2_word(const char* p, const char* end) noexcept {
  if (*p == '\'') {
    if (const char* next = skip_contraction(p, end, /*ignore_case=*/false); next != p) return next;
  }
  const char* word = *p == ' ' ? p + 1 : p;
  const Here first = look(word, end);
  if (first.flags & kLetter) return skip(word, end, kLetter, true);
  if (first.flags & kNumber) return skip(word, end, kNumber, true);
  if (first.num_bytes != 0 && !(first.flags & kSpace)) return skip(word, end, kSpace | kLetter | kNumber, false);
  return skip_spaces(p, end);
}

bool is_kimi_upper(const Here& c) noexcept {  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]
  return (c.flags & (kLetter | kMark)) && !is_lower(c.value) && !is_han(c.value);
}
bool is_kimi_lower(const Here& c) noexcept {  // [\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]
  return (c.flags & (kLetter | kMark)) && !is_upper(c.value) && !is_han(c.value);
}

// <upper>*<lower>+ at p, or if that does not match and `may_lack_lower`, <upper>+<lower>*; p if neither does.
const char* kimi_letters(const char* p, const char* end, bool may_lack_lower) noexcept {
  const char* shared = p;  // end of the last character in the run that belongs to both classes
  const char* next = p;
  Here here = look(next, end);
  for (; is_kimi_upper(here); here = look(next, end)) {
    next += here.num_bytes;
    if (is_kimi_lower(here)) shared = next;
  }
  if (!is_kimi_lower(here)) return may_lack_lower ? next : shared;  // backtracks as far as <lower>+ needs
  for (; is_kimi_lower(here); here = look(next, end)) next += here.num_bytes;
  return next;
}

// [\p{Han}]+|[^\r\n\p{L}\p{N}]?<upper>*<lower>+<contraction>?|[^\r\n\p{L}\p{N}]?<upper>+<lower>*<contraction>?|
// \p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
const char* kimi_word(const char* p, const char* end) noexcept {
  const Here first = look(p, end);
  const char* next = p;
  for (Here here = first; here.num_bytes > 0 && is_han(here.value); here = look(next, end)) next += here.num_bytes;
  if (next != p) return next;
  const bool may_lead = !(first.flags & (kLetter | kNumber)) && !is_newline(*p);
  for (const bool may_lack_lower : {false, true})
    for (const bool leads : {true, false}) {
      if (leads && !may_lead) continue;
      const char* word = leads ? p + first.num_bytes : p;
      next = kimi_letters(word, end, may_lack_lower);
      if (next == word) continue;
      return next != end && *next == '\'' ? skip_contraction(next, end, /*ignore_case=*/true) : next;
    }
  return other_word(p, end, kLetter, 3);
}

// Digits in groups of at most max_count; the text between them stays whole.
const char* number_word(const char* p, const char* end, uint8_t digit, size_t max_count) noexcept {
  if (look(p, end).flags & digit) return skip(p, end, digit, true, max_count);
  return skip(p, end, digit, false);
}

const char* word_end(WordPattern pattern, const char* p, const char* end) noexcept {
  switch (pattern) {
    case WordPattern::qwen2: return qwen_word(p, end, kLetter, 1);
    case WordPattern::qwen3_5: return qwen_word(p, end, kLetter | kMark, 1);
    case WordPattern::llama3: return qwen_word(p, end, kLetter, 3);
    case WordPattern::gpt2: return gpt2_word(p, end);
    case WordPattern::number: return number_word(p, end, kNumber, 1);
    case WordPattern::number_triple: return number_word(p, end, kNumber, 3);
    case WordPattern::number_run: return number_word(p, end, kNumber, SIZE_MAX);
    case WordPattern::decimal: return number_word(p, end, kDecimal, 1);
    case WordPattern::kimi: return kimi_word(p, end);
    case WordPattern::line_end: return line_end_word(p, end);
    case WordPattern::cased: return cased_word(p, end);
    case WordPattern::punctuation: return punctuation_word(p, end);
    case WordPattern::last_spaces: return last_spaces_word(p, end);
    case WordPattern::east_asian: return east_asian_word(p, end);
  }
  return end;
}

}  // namespace

size_t find_word_end(WordPattern pattern, std::string_view text, size_t begin) noexcept {
  return static_cast<size_t>(word_end(pattern, text.data() + begin, text.data() + text.size()) - text.data());
}

}  // namespace pagoda::text
