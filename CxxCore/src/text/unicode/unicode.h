// Unicode support for the tokenizer: UTF-8 decoding and character classes from generated tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda::text {

// Bits of a character's flags; values must match Tools/fixtures/unicode_tables.py.
constexpr uint8_t kLetter = 1;         // \p{L}
constexpr uint8_t kMark = 2;           // \p{M}
constexpr uint8_t kNumber = 4;         // \p{N}
constexpr uint8_t kSpace = 8;          // \s: White_Space
constexpr uint8_t kDecimal = 16;       // \d: \p{Nd}
constexpr uint8_t kWord = 32;          // \w
constexpr uint8_t kNfcAttention = 64;  // text without these is in NFC; only these combine with preceding characters

uint8_t char_flags(char32_t c) noexcept;  // c below 0x110000

// Character classes that few patterns need; testing them is slower than testing flags.
bool is_upper(char32_t c) noexcept;  // [\p{Lu}\p{Lt}]
bool is_lower(char32_t c) noexcept;  // \p{Ll}
bool is_han(char32_t c) noexcept;    // \p{Han}

struct CombiningRange {
  char32_t first, last;
  uint8_t combining_class;
};
struct Decomposition {
  char32_t composed, first, second;  // one level; second is 0 for singleton decompositions
};
uint8_t combining_class(char32_t c) noexcept;
const Decomposition* find_decomposition(char32_t c) noexcept;         // null if none; Hangul syllables are not listed
char32_t find_composition(char32_t first, char32_t second) noexcept;  // 0 if none; Hangul is not listed

// Classifies the bytes at the front of some text.
struct Utf8Step {
  enum class Kind : uint8_t { character, unfinished, broken };
  Kind kind;
  uint8_t num_bytes;  // of the character, of its prefix, or of the maximal subpart that one U+FFFD replaces
};
Utf8Step utf8_step(const char* bytes, size_t size) noexcept;  // size is not 0
size_t find_invalid_utf8(std::string_view text) noexcept;     // offset of the first invalid byte, or npos

struct Character {
  char32_t value;
  uint32_t num_bytes;
};
Character read_character(const char* bytes) noexcept;  // bytes start a valid UTF-8 character
void append_utf8(char32_t c, std::string& out);
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

inline Character read_character(const char* bytes) noexcept {
  const auto byte = [bytes](int i) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

}  // namespace pagoda::text
