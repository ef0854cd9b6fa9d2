// The lexer: text, comments and raw blocks outside of tags, expression tokens inside.
#include "text/jinja/parse/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/concat.h"
#include "text/jinja/value/case.h"
#include "text/jinja/value/number.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_byte(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Length in bytes of the space character at `at`, or 0.
size_t space_at(std::string_view text, size_t at) {
  if (at >= text.size()) return 0;
  const Character c = read_character(text.data() + at);
  return is_space(c.value) ? c.num_bytes : 0;
}

bool is_all_space(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t step = space_at(text, i);
    if (step == 0) return false;
    i += step;
  }
  return true;
}

std::string_view without_trailing_space(std::string_view text) {
  size_t end = 0;  // after the last non-space character
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    i += c.num_bytes;
    if (!is_space(c.value)) end = i;
  }
  return text.substr(0, end);
}

class Lexer {
 public:
  Lexer(std::string source, const std::string& file_name) : source_(std::move(source)), file_name_(file_name) {}

  Result<std::vector<Token>> run() {
    while (error_.is_ok() && pos_ < source_.size()) lex_text();
    if (!error_.is_ok()) return error_;
    push(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  void fail(const std::string& reason) {
    if (error_.is_ok()) error_ = make_error(StatusCode::bad_file, concat(file_name_, ":", line_, ": ", reason));
    pos_ = source_.size();
  }

  std::string_view rest() const { return std::string_view(source_).substr(pos_); }
  char peek(size_t ahead = 0) const { return pos_ + ahead < source_.size() ? source_[pos_ + ahead] : '\0'; }
  bool looking_at(std::string_view text) const { return rest().starts_with(text); }

  void advance(size_t count) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<ptrdiff_t>(pos_),
                                         source_.begin() + static_cast<ptrdiff_t>(pos_ + count), '\n'));
    pos_ += count;
  }

  void skip_space() {
    while (const size_t step = space_at(source_, pos_)) advance(step);
  }

  void push(TokenKind kind, std::string text) { tokens_.push_back({kind, line_, std::move(text), 0, 0}); }

  // Pushes the text before a tag, stripped according to lstrip_blocks and the tag's sign ('-', '+' or 0).
  void push_data(std::string_view text, char sign, bool is_variable) {
    const size_t whole = text.size();
    if (sign == '-') {
      text = without_trailing_space(text);
    } else if (sign == 0 && !is_variable) {
      const size_t line_start = text.rfind('\n') + 1;  // npos + 1 == 0
      if ((line_start > 0 || line_starting_) && is_all_space(text.substr(line_start)))
        text = text.substr(0, line_start);
    }
    if (!text.empty()) push(TokenKind::data, std::string(text));
    advance(whole);
  }

  char take_sign() {
    const char sign = peek();
    if (sign != '-' && sign != '+') return 0;
    advance(1);
    return sign;
  }

  void lex_text() {
    size_t at = pos_;
    while (true) {
      at = source_.find('{', at);
      if (at == std::string::npos || at + 1 >= source_.size()) return push_data_to_end();
      const char kind = source_[at + 1];
      if (kind == '{' || kind == '%' || kind == '#') return lex_tag(at, kind);
      ++at;
    }
  }

  void push_data_to_end() {
    push(TokenKind::data, std::string(rest()));
    advance(source_.size() - pos_);
  }

  void lex_tag(size_t at, char kind) {
    const char after = at + 2 < source_.size() ? source_[at + 2] : '\0';
    const char sign = after == '-' || after == '+' ? after : '\0';
    push_data(std::string_view(source_).substr(pos_, at - pos_), sign, kind == '{');
    if (kind == '%' && lex_raw()) return;
    advance(sign != 0 ? 3 : 2);
    if (kind == '#') return lex_comment();
    push(kind == '{' ? TokenKind::variable_begin : TokenKind::block_begin, {});
    lex_expression(kind == '{');
  }

  // After the content of a comment, a block or a raw block: consumes the end tag and the whitespace it strips.
  void finish_tag(char sign, bool trims_newline) {
    advance(2);
    if (sign == '-') skip_space();
    else if (sign == 0 && trims_newline && peek() == '\n') advance(1);
    line_starting_ = source_[pos_ - 1] == '\n';
  }

  void lex_comment() {
    const size_t end = source_.find("#}", pos_);
    if (end == std::string::npos) return fail("Missing end of comment tag");
    char sign = end > pos_ ? source_[end - 1] : '\0';
    if (sign != '-' && sign != '+') sign = 0;
    advance(end - pos_);
    finish_tag(sign, true);
  }

  // Matches `{%[-+]? name` at `at`, then `[-+]?%}`; returns the end and the sign before %}.
  bool match_word_tag(size_t at, std::string_view word, bool plus_allowed, size_t& end_of_word, char& sign) const {
    size_t i = at + 2;
    if (i < source_.size() && (source_[i] == '-' || source_[i] == '+')) ++i;
    while (const size_t step = space_at(source_, i)) i += step;
    if (source_.compare(i, word.size(), word) != 0) return false;
    i += word.size();
    while (const size_t step = space_at(source_, i)) i += step;
    sign = 0;
    if (i < source_.size() && (source_[i] == '-' || (plus_allowed && source_[i] == '+'))) sign = source_[i++];
    end_of_word = i;
    return source_.compare(i, 2, "%}") == 0;
  }

  bool lex_raw() {
    size_t end = 0;
    char sign = 0;
    if (!match_word_tag(pos_, "raw", false, end, sign)) return false;
    advance(end - pos_);
    finish_tag(sign, false);
    for (size_t at = source_.find("{%", pos_); at != std::string::npos; at = source_.find("{%", at + 2)) {
      if (!match_word_tag(at, "endraw", true, end, sign)) continue;
      const char before = source_[at + 2] == '-' || source_[at + 2] == '+' ? source_[at + 2] : '\0';
      push_data(std::string_view(source_).substr(pos_, at - pos_), before, false);
      advance(end - pos_);
      finish_tag(sign, true);
      return true;
    }
    fail("Missing end of raw directive");
    return true;
  }

  void lex_expression(bool is_variable) {
    const std::string_view end_tag = is_variable ? "}}" : "%}";
    std::string open;  // expected closing brackets
    while (pos_ < source_.size()) {
      if (open.empty()) {
        const bool signed_end =
            (peek() == '-' || (!is_variable && peek() == '+')) && rest().substr(1).starts_with(end_tag);
        if (signed_end || looking_at(end_tag)) {
          push(is_variable ? TokenKind::variable_end : TokenKind::block_end, {});
          const char sign = signed_end ? peek() : '\0';
          if (signed_end) advance(1);
          return finish_tag(sign, !is_variable);
        }
      }
      lex_token(open);
    }
    fail(is_variable ? "Missing }} of a variable" : "Missing %} of a block");
  }

  void lex_token(std::string& open) {
    const char c = peek();
    if (const size_t step = space_at(source_, pos_)) return advance(step);
    if (is_digit(c)) return lex_number();
    if (is_name_byte(c)) {
      size_t length = 1;
      while (is_name_byte(peek(length)) && space_at(source_, pos_ + length) == 0) ++length;
      push(TokenKind::name, std::string(rest().substr(0, length)));
      return advance(length);
    }
    if (c == '\'' || c == '"') return lex_string(c);
    lex_operator(open);
  }

  void lex_operator(std::string& open) {
    static constexpr std::array<std::string_view, 6> kLong = {"//", "**", "==", "!=", ">=", "<="};
    static constexpr std::string_view kShort = "+-/*%~[](){}><=.:|,;";
    size_t length = std::any_of(kLong.begin(), kLong.end(), [this](auto op) { return looking_at(op); }) ? 2 : 1;
    const char c = peek();
    if (length == 1 && kShort.find(c) == std::string_view::npos)
      return fail(std::string("unexpected char '") + c + "'");
    if (c == '{' || c == '(' || c == '[') open += c == '{' ? '}' : c == '(' ? ')' : ']';
    if (c == '}' || c == ')' || c == ']') {
      if (open.empty()) return fail(std::string("unexpected '") + c + "'");
      if (open.back() != c) return fail(std::string("unexpected '") + c + "', expected '" + open.back() + "'");
      open.pop_back();
    }
    push(TokenKind::op, std::string(rest().substr(0, length)));
    advance(length);
  }

  size_t digits_at(size_t at, int base) const {  // digits, optionally with single underscores between them
    const auto digit = [&](size_t i) {
      if (i >= source_.size()) return false;
      const char c = static_cast<char>(source_[i] | 0x20);
      return base == 16 ? is_digit(source_[i]) || (c >= 'a' && c <= 'f') : source_[i] >= '0' && source_[i] < '0' + base;
    };
    size_t i = at;
    while (digit(i) || (i < source_.size() && source_[i] == '_' && digit(i + 1))) ++i;
    return i - at;
  }

  void lex_number() {
    Token token{TokenKind::integer, line_, {}, 0, 0};
    const char kind = static_cast<char>(peek(1) | 0x20);
    int base = 10;
    if (peek() == '0') base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    size_t length = base == 10 ? digits_at(pos_, 10) : 2 + digits_at(pos_ + 2, base);
    const bool after_dot = pos_ > 0 && source_[pos_ - 1] == '.';
    if (base == 10 && !after_dot) {
      size_t real_length = length;
      if (peek(length) == '.' && is_digit(peek(length + 1))) real_length += 1 + digits_at(pos_ + length + 1, 10);
      const size_t sign = peek(real_length + 1) == '+' || peek(real_length + 1) == '-' ? 1 : 0;
      if ((peek(real_length) | 0x20) == 'e' && is_digit(peek(real_length + 1 + sign)))
        real_length += 1 + sign + digits_at(pos_ + real_length + 1 + sign, 10);
      if (real_length != length) token.kind = TokenKind::real;
      length = real_length;
    }
    std::string digits(rest().substr(base == 10 ? 0 : 2, base == 10 ? length : length - 2));
    std::erase(digits, '_');
    const bool fits =
        token.kind == TokenKind::real ? parse_real(digits, token.real) : parse_integer(digits, base, token.integer);
    if (!fits) return fail("number '" + digits + "' is malformed or does not fit 64 bits");
    tokens_.push_back(std::move(token));
    advance(length);
  }

  void lex_string(char quote) {
    const int line = line_;
    std::string value;
    advance(1);
    while (pos_ < source_.size() && peek() != quote) {
      if (peek() == '\\') {
        lex_escape(value);
      } else {
        value += peek();
        advance(1);
      }
    }
    if (pos_ >= source_.size()) return fail("string is not closed");
    advance(1);
    tokens_.push_back({TokenKind::string, line, std::move(value), 0, 0});
  }

  void lex_escape(std::string& value) {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = peek(1);
    const size_t simple = kLetters.find(c);
    if (c == '\n') return advance(2);
    if (simple != std::string_view::npos && c != '\0') {
      value += kMeanings[simple];
      return advance(2);
    }
    if (c >= '0' && c <= '7') {
      size_t length = 1;
      while (length < 3 && peek(1 + length) >= '0' && peek(1 + length) <= '7') ++length;
      return push_code_point(1, length, 8, value);
    }
    if (c == 'x' || c == 'u' || c == 'U') {
      const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      if (pos_ + 2 + length > source_.size()) return fail("truncated escape in string");
      return push_code_point(2, length, 16, value);
    }
    if (c == 'N') return fail("\\N{...} escapes are not supported");
    value += '\\';  // unknown escapes are kept verbatim
    advance(1);
  }

  void push_code_point(size_t skip, size_t length, int base, std::string& value) {
    uint32_t code = 0;
    const char* begin = source_.data() + pos_ + skip;
    const auto result = std::from_chars(begin, begin + length, code, base);
    if (result.ec != std::errc{} || result.ptr != begin + length) return fail("malformed escape in string");
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return fail("escape in string is no Unicode character");
    append_utf8(code, value);
    advance(skip + length);
  }

  std::string source_;
  const std::string& file_name_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // whether the text at pos_ starts a line, for lstrip_blocks
  std::vector<Token> tokens_;
  Status error_;
};

std::string with_unix_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') out += source[i];
    else if (i + 1 >= source.size() || source[i + 1] != '\n') out += '\n';
  }
  if (out.ends_with('\n')) out.pop_back();  // keep_trailing_newline is off
  return out;
}

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source, const std::string& file_name) {
  return Lexer(with_unix_newlines(source), file_name).run();
}

}  // namespace pagoda::text::jinja
