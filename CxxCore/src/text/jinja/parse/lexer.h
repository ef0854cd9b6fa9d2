// Splits a template into tokens, with jinja2's whitespace control (trim_blocks, lstrip_blocks, - and +).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::text::jinja {

enum class TokenKind : uint8_t {
  data,            // text between tags
  variable_begin,  // {{
  variable_end,
  block_begin,  // {%
  block_end,
  name,
  string,  // unescaped
  integer,
  real,
  op,   // text is the operator
  end,  // of the template; the last token
};

struct Token {
  TokenKind kind = TokenKind::end;
  int line = 0;
  std::string text;
  int64_t integer = 0;
  double real = 0;
};

// Errors are bad_file with "file:line: reason". `source` must be valid UTF-8.
Result<std::vector<Token>> tokenize(std::string_view source, const std::string& file_name);

}  // namespace pagoda::text::jinja
