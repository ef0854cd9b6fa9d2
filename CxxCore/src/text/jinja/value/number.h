// Converts numbers to and from text like Python, and parses the format mini-language of % and str.format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda::text::jinja {

bool parse_real(std::string_view text, double& value);                // float(text)
bool parse_integer(std::string_view text, int base, int64_t& value);  // int(text, base), if it fits
std::string real_repr(double value);                                  // repr(value): shortest digits that round-trip
double round_real(double value, int64_t digits);                      // round(value, digits)

struct FormatSpec {
  std::string fill = " ";  // one character
  char align = 0;          // '<' '>' '^' '=', or 0 for the type's default
  char sign = 0;           // '+' ' ' or 0
  bool alternate = false;  // '#'
  char grouping = 0;       // ',' '_' or 0
  int64_t width = 0;
  int64_t precision = -1;
  char type = 0;
};
constexpr int64_t kMaxFormatWidth = 4096;  // width and precision; larger values make no sense in a template

std::string format_integer(int64_t value, const FormatSpec& spec);
std::string format_real(double value, const FormatSpec& spec);
std::string pad(std::string body, size_t num_characters, const FormatSpec& spec, char default_align);

}  // namespace pagoda::text::jinja
