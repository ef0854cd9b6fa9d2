// Lexes JSON strings, numbers and separators, byte by byte.
#include "base/json_reader.h"

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/concat.h"

namespace pagoda::io {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The first quote, backslash or control character, or `end`; `ascii` says whether only ASCII precedes it. Scans 8 bytes
// at a time: borrows of the subtractions affect only bytes above a true match, so the lowest flag (little endian) is
// exact.
const char* find_string_special(const char* p, const char* end, bool& ascii) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x80 * kOnes;
  for (; end - p >= 8; p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    const uint64_t quote = word ^ '"' * kOnes, backslash = word ^ '\\' * kOnes;
    const uint64_t special =
        (((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) | ((word - 0x20 * kOnes) & ~word)) & kHighs;
    if (special != 0) {
      const uint64_t before = (special & (~special + 1)) - 1;  // the bits below the lowest flag
      ascii &= (word & before & kHighs) == 0;
      return p + std::countr_zero(special) / 8;
    }
    ascii &= (word & kHighs) == 0;
  }
  for (; p < end; ++p) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"' || c == '\\' || c < 0x20) return p;
    ascii &= c < 0x80;
  }
  return end;
}

// First byte of an ill-formed UTF-8 sequence, or null.
const char* find_invalid_utf8(const char* p, const char* end) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(p[i]); };
  while (p < end) {
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
      ++p;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || static_cast<size_t>(end - p) < length) return p;
    // The second byte reveals overlong forms, surrogates and code points above U+10FFFF.
    const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high) return p;
    for (size_t i = 2; i < length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return p;
    }
    p += length;
  }
  return nullptr;
}

void append_utf8(std::string& into, uint32_t code) {
  const auto add = [&](uint32_t byte) { into.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6), add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18), add(0x80 | (code >> 12 & 0x3f)), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
  }
}

// strtod's decimal point follows the locale, and Apple's from_chars has no overload for double: hence strtod_l.
double parse_double(const std::string& digits) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(digits.c_str(), nullptr, c_locale);
}

}  // namespace

bool JsonReader::fail_at(size_t offset, std::string reason) {
  if (error_.empty()) error_ = concat(std::move(reason), " at byte ", offset);
  return false;
}

bool JsonReader::take_word(std::string_view word) noexcept {
  peek();
  if (!std::string_view(next_, static_cast<size_t>(end_ - next_)).starts_with(word)) return false;
  next_ += word.size();
  return true;
}

bool JsonReader::read_string(std::string& into) {
  into.clear();
  if (!take('"')) return fail("expected a string");
  while (true) {
    bool ascii = true;
    const char* run = next_;
    next_ = find_string_special(run, end_, ascii);
    if (!ascii) {
      if (const char* bad = find_invalid_utf8(run, next_)) {
        next_ = bad;
        return fail("invalid UTF-8");
      }
    }
    if (next_ == end_) return fail("string without an end");
    into.append(run, static_cast<size_t>(next_ - run));
    const char c = *next_++;
    if (c == '"') return true;
    if (c != '\\') return --next_, fail("control character in a string");
    if (!read_escape(into)) return false;
  }
}

bool JsonReader::read_escape(std::string& into) {
  static constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (next_ == end_) return fail("string without an end");
  const char name = *next_;
  if (const size_t i = kNames.find(name); i != kNames.npos) {
    ++next_;
    into.push_back(kMeanings[i]);
    return true;
  }
  if (name != 'u') return fail("unknown escape");
  ++next_;
  const size_t start = offset() - 2;
  uint32_t code = 0, low = 0;
  if (!read_hex4(code)) return false;
  if (code >= 0xdc00 && code <= 0xdfff) return fail_at(start, "lone surrogate");
  if (code >= 0xd800 && code <= 0xdbff) {
    if (end_ - next_ < 2 || next_[0] != '\\' || next_[1] != 'u') return fail_at(start, "lone surrogate");
    next_ += 2;
    if (!read_hex4(low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return fail_at(start, "lone surrogate");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(into, code);
  return true;
}

bool JsonReader::read_hex4(uint32_t& unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++next_) {
    const char c = next_ < end_ ? *next_ : '\0';
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) unit = unit * 16 + static_cast<uint32_t>(c - '0');
    else if (lower >= 'a' && lower <= 'f') unit = unit * 16 + static_cast<uint32_t>(lower - 'a' + 10);
    else return fail("expected four hexadecimal digits");
  }
  return true;
}

bool JsonReader::read_number(JsonNumber& into) {
  peek();
  const char* start = next_;
  const auto digits = [&] {
    const char* first = next_;
    while (next_ < end_ && is_digit(*next_)) ++next_;
    return next_ > first;
  };
  const bool negative = next_ < end_ && *next_ == '-';
  if (negative) ++next_;
  const char* integer = next_;
  if (!digits()) return fail("expected a value");
  if (*integer == '0' && next_ - integer > 1) return fail_at(static_cast<size_t>(integer - begin_), "leading zero");
  const char* integer_end = next_;
  if (next_ < end_ && *next_ == '.') {
    ++next_;
    if (!digits()) return fail("expected a digit after the decimal point");
  }
  if (next_ < end_ && (*next_ == 'e' || *next_ == 'E')) {
    ++next_;
    if (next_ < end_ && (*next_ == '+' || *next_ == '-')) ++next_;
    if (!digits()) return fail("expected a digit in the exponent");
  }
  into = {};
  if (next_ == integer_end) {
    into.is_integer = true;
    for (const char* p = integer; p < integer_end && into.is_integer; ++p) {
      const int64_t digit = negative ? '0' - *p : *p - '0';  // accumulates with the sign, so that INT64_MIN fits
      into.is_integer = !__builtin_mul_overflow(into.integer, int64_t{10}, &into.integer) &&
                        !__builtin_add_overflow(into.integer, digit, &into.integer);
    }
    into.real = static_cast<double>(into.integer);
    if (into.is_integer) return true;
  }
  into.integer = 0;
  into.real = parse_double(std::string(start, next_));
  if (!std::isfinite(into.real)) return fail_at(static_cast<size_t>(start - begin_), "number outside double");
  return true;
}

}  // namespace pagoda::io
