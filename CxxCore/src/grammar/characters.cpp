// Ranges of characters become ranges of bytes: split where the length of UTF-8 changes, then where a lead byte does.
#include "grammar/characters.h"

#include <algorithm>
#include <string>

#include "base/json_writer.h"
#include "text/unicode/unicode.h"

namespace pagoda::grammar {
namespace {

// Both ends have `size` bytes. Splits the range until all but its last bytes are equal or cover whole ranges.
void add_utf8(GrammarBuilder& builder, int32_t from, const std::string& first, const std::string& last, size_t at,
              int32_t to) {
  const auto low = static_cast<uint8_t>(first[at]), high = static_cast<uint8_t>(last[at]);
  if (at + 1 == first.size()) return builder.add_bytes(from, low, high, to);
  const auto rest_is = [at](const std::string& bytes, char value) {
    return std::all_of(bytes.begin() + static_cast<ptrdiff_t>(at) + 1, bytes.end(), [&](char c) { return c == value; });
  };
  if (low == high || (rest_is(first, '\x80') && rest_is(last, '\xBF')))
    return add_utf8(builder, builder.add_byte(from, low, high), first, last, at + 1, to);
  std::string low_end = first, high_begin = last;
  std::fill(low_end.begin() + static_cast<ptrdiff_t>(at) + 1, low_end.end(), '\xBF');
  std::fill(high_begin.begin() + static_cast<ptrdiff_t>(at) + 1, high_begin.end(), '\x80');
  add_utf8(builder, builder.add_byte(from, low, low), first, low_end, at + 1, to);
  if (low + 1 < high) {
    std::string begin = high_begin, end = low_end;
    begin[at] = static_cast<char>(low + 1);
    end[at] = static_cast<char>(high - 1);
    add_utf8(builder, from, begin, end, at, to);
  }
  add_utf8(builder, builder.add_byte(from, high, high), high_begin, last, at + 1, to);
}

struct CharacterRange {
  char32_t first, last;
};

void add_hex_digits(GrammarBuilder& builder, int32_t from, std::string_view ranges, int32_t to) {
  for (size_t i = 0; i + 1 < ranges.size(); i += 2)
    builder.add_bytes(from, static_cast<uint8_t>(ranges[i]), static_cast<uint8_t>(ranges[i + 1]), to);
}

constexpr std::string_view kAnyHex = "09afAF", kNotD = "09acefACEF", kLowHalf = "07", kHighUnit = "89abAB",
                           kLowUnit = "cfCF";

// The four digits after \u: `first` and `second` limit the leading two.
void add_code_unit(GrammarBuilder& builder, int32_t from, std::string_view first, std::string_view second, int32_t to) {
  const int32_t one = builder.add_state(), two = builder.add_state(), three = builder.add_state();
  add_hex_digits(builder, from, first, one);
  add_hex_digits(builder, one, second, two);
  add_hex_digits(builder, two, kAnyHex, three);
  add_hex_digits(builder, three, kAnyHex, to);
}

void add_escape(GrammarBuilder& builder, int32_t from, int32_t to) {
  const int32_t escape = builder.add_byte(from, '\\', '\\');
  for (const char c : std::string_view("\"\\/bfnrt"))
    builder.add_bytes(escape, static_cast<uint8_t>(c), static_cast<uint8_t>(c), to);
  const int32_t unit = builder.add_byte(escape, 'u', 'u');
  add_code_unit(builder, unit, kNotD, kAnyHex, to);
  add_code_unit(builder, unit, "ddDD", kLowHalf, to);
  const int32_t low = builder.add_state();
  add_code_unit(builder, unit, "ddDD", kHighUnit, low);
  add_code_unit(builder, builder.add_literal(low, "\\u"), "ddDD", kLowUnit, to);
}

}  // namespace

void add_raw_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to) {
  // Split where the length of UTF-8 changes, and around quote, backslash and surrogates.
  static constexpr CharacterRange kWhole[] = {{0x20, 0x21},
                                              {0x23, 0x5B},
                                              {0x5D, 0x7F},
                                              {0x80, 0x7FF},
                                              {0x800, 0xD7FF},
                                              {0xE000, 0xFFFF},
                                              {0x10000, kLastCharacter}};
  for (const CharacterRange& whole : kWhole) {
    const char32_t begin = std::max(first, whole.first), end = std::min(last, whole.last);
    if (begin > end) continue;
    std::string low, high;
    text::append_utf8(begin, low);
    text::append_utf8(end, high);
    add_utf8(builder, from, low, high, 0, to);
  }
}

void add_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to) {
  add_raw_characters(builder, from, first, last, to);
  const auto escaped = [&](char32_t c) {
    if (c < first || c > last) return;
    std::string spelling;
    io::append_json_escaped(std::string(1, static_cast<char>(c)), spelling);
    builder.add_literal(from, spelling, to);
  };
  for (char32_t c = 0; c < 0x20; ++c) escaped(c);
  escaped(U'"');
  escaped(U'\\');
}

void add_text_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to) {
  add_raw_characters(builder, from, first, last, to);
  if (first < 0x20)
    builder.add_bytes(from, static_cast<uint8_t>(first), static_cast<uint8_t>(std::min<char32_t>(last, 0x1F)), to);
  for (const char32_t c : {U'"', U'\\'}) {
    if (first <= c && c <= last) builder.add_bytes(from, static_cast<uint8_t>(c), static_cast<uint8_t>(c), to);
  }
}

void add_any_character(GrammarBuilder& builder, int32_t from, int32_t to) {
  add_raw_characters(builder, from, 0, kLastCharacter, to);
  add_escape(builder, from, to);
}

}  // namespace pagoda::grammar
