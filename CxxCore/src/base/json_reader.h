// JsonReader: a strict pull lexer for JSON, used by parse_json and by readers that build no tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace pagoda::io {

struct JsonNumber {
  bool is_integer = false;  // written without fraction or exponent, and fits int64
  int64_t integer = 0;
  double real = 0;  // always valid
};

// Every take_ and read_ first skips whitespace. The first error is kept with its offset; later results are
// meaningless. The text must outlive the reader.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) noexcept
      : begin_(text.data()), next_(text.data()), end_(text.data() + text.size()) {}

  // The next byte that is not whitespace; 0 at the end.
  char peek() noexcept {
    while (next_ < end_ && (*next_ == ' ' || *next_ == '\n' || *next_ == '\r' || *next_ == '\t')) ++next_;
    return next_ < end_ ? *next_ : '\0';
  }
  bool take(char c) noexcept {  // c is not 0
    if (peek() != c) return false;
    ++next_;
    return true;
  }
  bool take_word(std::string_view word) noexcept;  // true, false, null
  bool at_end() noexcept { return peek() == '\0' && next_ == end_; }
  bool read_string(std::string& into);
  bool read_number(JsonNumber& into);
  // After an element: reads ',' (`more` = true) or `close` (`more` = false); fails on anything else.
  bool read_separator(char close, bool& more) {
    more = take(',');
    return more || take(close) || fail(std::string("expected ',' or '") + close + "'");
  }

  size_t offset() const noexcept { return static_cast<size_t>(next_ - begin_); }
  bool fail(std::string reason) { return fail_at(offset(), std::move(reason)); }  // always returns false
  bool fail_at(size_t offset, std::string reason);
  Status status() const { return make_error(StatusCode::bad_file, error_); }

 private:
  bool read_escape(std::string& into);
  bool read_hex4(uint32_t& unit);

  const char* begin_;
  const char* next_;
  const char* end_;
  std::string error_;
};

}  // namespace pagoda::io
