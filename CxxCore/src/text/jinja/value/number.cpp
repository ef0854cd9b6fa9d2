// Formats numbers with std::to_chars, which ignores the locale, and Python's rules on top.
#include "text/jinja/value/number.h"

#include <locale.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "text/jinja/value/case.h"

namespace pagoda::text::jinja {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && is_space(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes underscores between digits; returns false for any other underscore.
bool remove_underscores(std::string_view text, std::string& out) {
  const auto digit = [](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') out += text[i];
    else if (i == 0 || i + 1 == text.size() || !digit(text[i - 1]) || !digit(text[i + 1])) return false;
  }
  return true;
}

bool is_decimal_number(std::string_view s) {
  size_t i = !s.empty() && (s[0] == '+' || s[0] == '-') ? 1 : 0;
  size_t digits = 0;
  for (; i < s.size() && is_digit(s[i]); ++i) ++digits;
  if (i < s.size() && s[i] == '.')
    for (++i; i < s.size() && is_digit(s[i]); ++i) ++digits;
  if (digits == 0) return false;
  if (i < s.size() && (s[i] | 0x20) == 'e') {
    ++i;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
    if (i == s.size()) return false;
    while (i < s.size() && is_digit(s[i])) ++i;
  }
  return i == s.size();
}

std::string digits_with_precision(double value, std::chars_format format, int64_t precision) {
  std::array<char, 512 + kMaxFormatWidth> buffer;
  const int digits = static_cast<int>(std::clamp<int64_t>(precision, 0, kMaxFormatWidth));
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, digits);
  return std::string(buffer.data(), result.ptr);
}

// %g: significant digits, exponent form outside [1e-4, 10^precision), trailing zeros dropped unless '#'.
std::string general_form(double value, int64_t precision, bool alternate) {
  precision = precision < 0 ? 6 : std::max<int64_t>(precision, 1);
  std::string text = digits_with_precision(value, std::chars_format::scientific, precision - 1);
  const size_t e = text.find('e');
  int64_t exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string tail = text.substr(e);
  if (exponent >= -4 && exponent < precision) {
    text = digits_with_precision(value, std::chars_format::fixed, precision - 1 - exponent);
    tail.clear();
  } else {
    text.resize(e);
  }
  if (!alternate && text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text + tail;
}

void group_digits(std::string& text, char separator, size_t group) {
  size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] >= 'a' && text[end] <= 'f' && group == 4))) ++end;
  while (end > group) text.insert(end -= group, 1, separator);
}

std::string sign_text(bool negative, char sign) { return negative ? "-" : sign == 0 ? "" : std::string(1, sign); }

// Joins sign, prefix and digits; '=' alignment (and zero fill) puts the padding between them.
std::string assemble(const std::string& head, const std::string& digits, const FormatSpec& spec) {
  const size_t length = head.size() + digits.size();
  if (spec.align == '=' && spec.width > static_cast<int64_t>(length)) {
    std::string padding;
    for (size_t i = length; i < static_cast<size_t>(spec.width); ++i) padding += spec.fill;
    return head + padding + digits;
  }
  return pad(head + digits, length, spec, '>');
}

}  // namespace

bool parse_real(std::string_view text, double& value) {
  std::string digits;
  if (!remove_underscores(trimmed(text), digits)) return false;
  const std::string lower = to_lower(digits);
  const std::string_view word =
      std::string_view(lower).substr(lower.starts_with('+') || lower.starts_with('-') ? 1 : 0);
  const bool named = word == "inf" || word == "infinity" || word == "nan";
  if (!named && !is_decimal_number(digits)) return false;
  // strtod's decimal point follows the locale, and Apple's from_chars has no overload for double.
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  value = strtod_l(digits.c_str(), nullptr, c_locale);
  return true;
}

bool parse_integer(std::string_view text, int base, int64_t& value) {
  std::string digits;
  if (!remove_underscores(trimmed(text), digits)) return false;
  std::string_view rest = digits;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.size() > 2 && rest[0] == '0') {
    const char mark = static_cast<char>(rest[1] | 0x20);
    const int marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (marked != 0 && (base == marked || base == 0)) {
      rest.remove_prefix(2);
      base = marked;
    }
  }
  if (base == 0) base = 10;
  if (base < 2 || base > 36 || rest.empty() || rest[0] == '-') return false;
  const std::string signed_digits = (negative ? "-" : "") + std::string(rest);
  const char* end = signed_digits.data() + signed_digits.size();
  const auto result = std::from_chars(signed_digits.data(), end, value, base);
  return result.ec == std::errc{} && result.ptr == end;
}

std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string text(buffer.data(), result.ptr);  // -d.ddde+XX
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  const std::string sign = text[0] == '-' ? "-" : "";
  std::string digits = text.substr(sign.size(), e - sign.size());
  if (exponent < -4 || exponent >= 16) return sign + digits + text.substr(e);
  std::erase(digits, '.');
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

double round_real(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < 0) {
    if (digits < -308) return 0.0 * value;
    const double scale = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / scale) * scale;
  }
  double rounded = value;
  parse_real(digits_with_precision(value, std::chars_format::fixed, digits), rounded);
  return rounded;
}

std::string pad(std::string body, size_t num_characters, const FormatSpec& spec, char default_align) {
  const size_t width = static_cast<size_t>(std::clamp<int64_t>(spec.width, 0, kMaxFormatWidth));
  if (num_characters >= width) return body;
  const size_t missing = width - num_characters;
  const char align = spec.align == 0 || spec.align == '=' ? default_align : spec.align;
  const size_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  std::string out;
  for (size_t i = 0; i < left; ++i) out += spec.fill;
  out += body;
  for (size_t i = left; i < missing; ++i) out += spec.fill;
  return out;
}

std::string format_integer(int64_t value, const FormatSpec& spec) {
  const char kind = static_cast<char>(spec.type | 0x20);
  const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::array<char, 80> buffer;
  std::string digits(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, base).ptr);
  if (spec.precision > static_cast<int64_t>(digits.size()))  // only % formatting gives integers a precision
    digits.insert(0, static_cast<size_t>(std::min(spec.precision, kMaxFormatWidth)) - digits.size(), '0');
  if (spec.grouping != 0) group_digits(digits, spec.grouping, base == 10 ? 3 : 4);
  std::string head = sign_text(value < 0, spec.sign);
  if (spec.alternate && base != 10) head += std::string("0") + kind;
  if (spec.type == 'X')
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char c) { return static_cast<char>(c >= 'a' ? c - 32 : c); });
  return assemble(head, digits, spec);
}

std::string format_real(double value, const FormatSpec& spec) {
  const char kind = static_cast<char>(spec.type | 0x20);
  const bool negative = std::signbit(value) && !std::isnan(value);
  const double magnitude = std::fabs(value);
  const int64_t precision = spec.precision < 0 ? 6 : spec.precision;
  std::string digits;
  if (!std::isfinite(value)) digits = std::isnan(value) ? "nan" : "inf";
  else if (kind == 'f') digits = digits_with_precision(magnitude, std::chars_format::fixed, precision);
  else if (spec.type == '%') digits = digits_with_precision(magnitude * 100, std::chars_format::fixed, precision) + "%";
  else if (kind == 'e') digits = digits_with_precision(magnitude, std::chars_format::scientific, precision);
  else if (kind == 'g' || spec.precision >= 0) digits = general_form(magnitude, spec.precision, spec.alternate);
  else digits = real_repr(magnitude);
  if (spec.grouping != 0) group_digits(digits, spec.grouping, 3);
  if (spec.type == 'F' || spec.type == 'E' || spec.type == 'G') digits = to_upper(digits);
  return assemble(sign_text(negative, spec.sign), digits, spec);
}

}  // namespace pagoda::text::jinja
