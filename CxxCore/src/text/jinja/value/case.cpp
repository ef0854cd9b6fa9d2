// Case mapping from generated tables: ranges with one offset, and the few characters that map to several.
#include "text/jinja/value/case.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

struct CaseRange {
  char32_t first, last;
  uint32_t stride;
  int32_t delta;
};
struct SpecialCase {
  char32_t from, first, second, third;  // zero after the last
};
struct CharRange {
  char32_t first, last;
};

#include "text/jinja/value/case_tables.inc"

template <class Row, size_t N>
const Row* find_range(const Row (&rows)[N], char32_t c) {
  const Row* row = std::upper_bound(std::begin(rows), std::end(rows), c,
                                    [](char32_t value, const Row& r) { return value < r.first; });
  if (row == std::begin(rows) || c > (row - 1)->last) return nullptr;
  return row - 1;
}

template <size_t N>
char32_t map_simple(const CaseRange (&rows)[N], char32_t c) {
  const CaseRange* row = find_range(rows, c);
  if (row == nullptr || (c - row->first) % row->stride != 0) return c;
  return static_cast<char32_t>(static_cast<int32_t>(c) + row->delta);
}

template <size_t N>
const SpecialCase* find_special(const SpecialCase (&rows)[N], char32_t c) {
  const auto* row = std::lower_bound(std::begin(rows), std::end(rows), c,
                                     [](const SpecialCase& r, char32_t value) { return r.from < value; });
  return row == std::end(rows) || row->from != c ? nullptr : row;
}

template <size_t N>
bool append_special(const SpecialCase (&rows)[N], char32_t c, std::string& out) {
  const SpecialCase* row = find_special(rows, c);
  if (row == nullptr) return false;
  for (const char32_t to : {row->first, row->second, row->third}) {
    if (to != 0) append_utf8(to, out);
  }
  return true;
}

constexpr char32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;

// Sigma is final if a cased letter precedes it and none follows; marks and apostrophes in between are ignored.
bool is_final_sigma(std::string_view text, size_t at, size_t after) {
  const auto ignorable = [](char32_t c) { return c == '\'' || c == 0xB7 || (char_flags(c) & kMark) != 0; };
  bool before = false;
  for (size_t i = at; i > 0;) {
    do --i;
    while (i > 0 && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80);
    const char32_t c = read_character(text.data() + i).value;
    if (ignorable(c)) continue;
    before = is_cased(c);
    break;
  }
  for (size_t i = after; before && i < text.size();) {
    const Character c = read_character(text.data() + i);
    if (!ignorable(c.value)) return !is_cased(c.value);
    i += c.num_bytes;
  }
  return before;
}

}  // namespace

void append_lower(char32_t c, std::string& out) {
  if (!append_special(kSpecialLower, c, out)) append_utf8(map_simple(kLower, c), out);
}

void append_lower_at(std::string_view text, size_t at, std::string& out) {
  const Character c = read_character(text.data() + at);
  const bool final_sigma = c.value == kCapitalSigma && is_final_sigma(text, at, at + c.num_bytes);
  if (final_sigma) append_utf8(kFinalSigma, out);
  else append_lower(c.value, out);
}

void append_upper(char32_t c, std::string& out) {
  if (!append_special(kSpecialUpper, c, out)) append_utf8(map_simple(kUpper, c), out);
}

void append_title(char32_t c, std::string& out) {
  if (!append_special(kSpecialTitle, c, out)) append_upper(c, out);
}

bool is_lower(char32_t c) noexcept {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  return map_simple(kLower, c) == c && (map_simple(kUpper, c) != c || find_special(kSpecialUpper, c) != nullptr);
}

bool is_upper(char32_t c) noexcept {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  return map_simple(kLower, c) != c && map_simple(kUpper, c) == c;  // title-case letters are neither
}

bool is_cased(char32_t c) noexcept { return is_lower(c) || map_simple(kLower, c) != c; }

bool is_space(char32_t c) noexcept {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
  return (char_flags(c) & kSpace) != 0;
}

bool is_line_end(char32_t c) noexcept {
  return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_printable(char32_t c) noexcept { return find_range(kUnprintable, c) == nullptr; }

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    append_lower_at(text, i, out);
    i += c.num_bytes;
  }
  return out;
}

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    append_upper(c.value, out);
    i += c.num_bytes;
  }
  return out;
}

}  // namespace pagoda::text::jinja
