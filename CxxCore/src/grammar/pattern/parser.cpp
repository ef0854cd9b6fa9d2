// Recursive descent with a bounded depth. A repeated atom is parsed again for each copy, so that copies share nothing.
#include "grammar/pattern/parser.h"

#include <algorithm>

#include "base/concat.h"
#include "base/quoted.h"
#include "grammar/characters.h"
#include "grammar/pattern/pattern.h"
#include "text/unicode/unicode.h"

namespace pagoda::grammar {
namespace {

const CharacterSet kDigits = {{'0', '9'}};
const CharacterSet kWordCharacters = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharacterSet kSpaces = {{0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                              {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
const CharacterSet kLineEnds = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

CharacterSet normalise(CharacterSet set) {
  std::ranges::sort(set, {}, &CharacterSpan::first);
  CharacterSet out;
  for (const CharacterSpan& span : set) {
    if (!out.empty() && span.first <= out.back().last + 1) out.back().last = std::max(out.back().last, span.last);
    else out.push_back(span);
  }
  return out;
}

CharacterSet complement(const CharacterSet& set) {
  CharacterSet out;
  char32_t next = 0;
  for (const CharacterSpan& span : normalise(set)) {
    if (span.first > next) out.push_back({next, span.first - 1});
    next = span.last + 1;
  }
  if (next <= kLastCharacter) out.push_back({next, kLastCharacter});
  return out;
}

Result<std::vector<PatternPart>> PatternParser::parse(bool is_whole) {
  if (text_.size() > kMaxPatternBytes)
    return make_error(StatusCode::invalid_argument,
                      concat("has ", text_.size(), " bytes, at most ", kMaxPatternBytes, " are allowed"));
  const int32_t before = add_part(), after = add_part();
  Fragment fragment;
  if (!parse_choice(0, fragment)) return status_;
  if (has_more()) {
    fail("unexpected ')'");
    return status_;
  }
  const CharacterSet others = is_whole ? CharacterSet() : CharacterSet{{0, kLastCharacter}};
  parts_[before].characters = parts_[after].characters = others;
  parts_[before].characters.push_back({kBegin, kBegin});
  parts_[before].target = before;
  parts_[after].characters.push_back({kEnd, kEnd});
  parts_[after].target = after;
  jump(before, fragment.start);
  jump(fragment.end, after);
  return std::move(parts_);
}

bool PatternParser::fail(const std::string& reason) {
  if (status_.is_ok())
    status_ = make_error(StatusCode::invalid_argument, concat(io::quoted(text_), ": ", reason, " at byte ", at_));
  return false;
}

bool PatternParser::take(std::string_view word) noexcept {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

int32_t PatternParser::add_part() {
  parts_.emplace_back();
  return static_cast<int32_t>(parts_.size()) - 1;
}

PatternParser::Fragment PatternParser::add_set(CharacterSet set) {
  const Fragment fragment{add_part(), add_part()};
  num_spans_ += set.size();
  parts_[fragment.start].characters = normalise(std::move(set));
  parts_[fragment.start].target = fragment.end;
  return fragment;
}

bool PatternParser::parse_choice(int depth, Fragment& fragment) {
  if (depth > kMaxPatternDepth) return fail(concat("groups nested deeper than ", kMaxPatternDepth));
  fragment = {add_part(), add_part()};
  do {
    Fragment branch;
    if (!parse_sequence(depth, branch)) return false;
    jump(fragment.start, branch.start);
    jump(branch.end, fragment.end);
  } while (take("|"));
  return true;
}

bool PatternParser::parse_sequence(int depth, Fragment& fragment) {
  fragment.start = fragment.end = add_part();
  while (has_more() && text_[at_] != '|' && text_[at_] != ')') {
    Fragment next;
    if (!parse_repeated(depth, next)) return false;
    jump(fragment.end, next.start);
    fragment.end = next.end;
  }
  return true;
}

bool PatternParser::parse_repeated(int depth, Fragment& fragment) {
  const size_t begin = at_;
  if (!parse_atom(depth, fragment)) return false;
  bool is_repeated = false;
  Counts counts{1, 1};
  if (!parse_counts(is_repeated, counts)) return false;
  return !is_repeated || repeat(begin, depth, counts, fragment);
}

// `fragment` is the first copy; the text between `begin` and the quantifier is parsed again for the others.
bool PatternParser::repeat(size_t begin, int depth, const Counts& counts, Fragment& fragment) {
  const size_t end = at_;
  Fragment copy = fragment;
  const Fragment whole{add_part(), add_part()};
  int32_t last = whole.start;
  const int64_t num_copies = std::max<int64_t>({counts.least, counts.most, 1});
  for (int64_t i = 0; i < num_copies; ++i) {
    if (i > 0) {
      at_ = begin;
      if (parts_.size() > kMaxPatternParts) return fail("repetitions that write out to too much");
      if (!parse_atom(depth, copy)) return false;
    }
    if (i >= counts.least) jump(last, whole.end);
    if (counts.most == 0) break;
    jump(last, copy.start);
    last = copy.end;
  }
  jump(last, whole.end);
  if (counts.most < 0) jump(last, copy.start);
  at_ = end;
  fragment = whole;
  return true;
}

bool PatternParser::parse_counts(bool& is_repeated, Counts& counts) {
  is_repeated = true;
  if (take("*")) counts = {0, -1};
  else if (take("+")) counts = {1, -1};
  else if (take("?")) counts = {0, 1};
  else if (has_more() && text_[at_] == '{') {
    if (!parse_braces(counts)) return false;
  } else {
    is_repeated = false;
    return true;
  }
  take("?");  // lazy: the same strings
  if (has_more() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?' || text_[at_] == '{'))
    return fail("a quantifier on a quantifier");
  return true;
}

bool PatternParser::parse_braces(Counts& counts) {
  const auto read_count = [this](int64_t& count) {
    const size_t begin = at_;
    count = 0;
    for (; has_more() && is_digit(text_[at_]); ++at_)
      count = std::min<int64_t>(count * 10 + (text_[at_] - '0'), int64_t{1} << 40);
    return at_ > begin;
  };
  take("{");
  if (!read_count(counts.least)) return fail("expected a number after '{'");
  counts.most = counts.least;
  if (take(",") && !read_count(counts.most)) counts.most = -1;
  if (!take("}")) return fail("expected '}'");
  if (counts.most >= 0 && counts.most < counts.least) return fail("a range that ends before it begins");
  return true;
}

bool PatternParser::parse_atom(int depth, Fragment& fragment) {
  if (parts_.size() > kMaxPatternParts || num_spans_ > kMaxPatternSpans) return fail("too many parts");
  if (!budget_.spend(40)) return fail("takes too long to compile");
  if (take("(")) return parse_group(depth, fragment);
  CharacterSet set;
  if (take("[")) {
    if (!parse_set(set)) return false;
  } else if (take("\\")) {
    if (!parse_escape(/*in_set=*/false, set)) return false;
  } else if (take(".")) {
    set = complement(kLineEnds);
  } else if (take("^")) {
    set = {{kBegin, kBegin}};
  } else if (take("$")) {
    set = {{kEnd, kEnd}};
  } else if (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?' || text_[at_] == '{') {
    return fail("nothing to repeat");
  } else {
    char32_t c;
    if (!read_character(c)) return false;
    set = {{c, c}};
  }
  fragment = add_set(std::move(set));
  return true;
}

bool PatternParser::parse_group(int depth, Fragment& fragment) {
  if (take("?") && !take(":")) return fail("only plain groups and (?: ) are supported, no look-around");
  if (!parse_choice(depth + 1, fragment)) return false;
  return take(")") || fail("expected ')'");
}

bool PatternParser::parse_set(CharacterSet& set) {
  const bool negated = take("^");
  while (!take("]")) {
    if (!has_more()) return fail("expected ']'");
    budget_.spend(8);
    if (!parse_set_item(set)) return false;
  }
  if (negated) set = complement(set);
  return true;
}

// One character, a range of them, or a class such as \d.
bool PatternParser::parse_set_item(CharacterSet& set) {
  const auto read_one = [this](CharacterSet& one) {
    if (take("\\")) return parse_escape(/*in_set=*/true, one);
    char32_t c;
    if (!read_character(c)) return false;
    one = {{c, c}};
    return true;
  };
  CharacterSet first;
  if (!read_one(first)) return false;
  const bool is_range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
  if (is_range) {
    take("-");
    CharacterSet last;
    if (!read_one(last)) return false;
    const auto is_single = [](const CharacterSet& s) { return s.size() == 1 && s[0].first == s[0].last; };
    if (!is_single(first) || !is_single(last) || first[0].first > last[0].first) return fail("a range out of order");
    first[0].last = last[0].first;
  }
  set.insert(set.end(), first.begin(), first.end());
  return true;
}

bool PatternParser::parse_escape(bool in_set, CharacterSet& set) {
  if (!has_more()) return fail("a backslash at the end");
  char32_t c = static_cast<unsigned char>(text_[at_]);
  const auto single = [&](char32_t value) {
    set = {{value, value}};
    return true;
  };
  if (c >= 0x80) return read_character(c) && single(c);
  ++at_;
  switch (c) {
    case 'd': set = kDigits; return true;
    case 'D': set = complement(kDigits); return true;
    case 'w': set = kWordCharacters; return true;
    case 'W': set = complement(kWordCharacters); return true;
    case 's': set = kSpaces; return true;
    case 'S': set = complement(kSpaces); return true;
    case 'n': return single('\n');
    case 'r': return single('\r');
    case 't': return single('\t');
    case 'f': return single('\f');
    case 'v': return single('\v');
    case '0': return single(0);
    case 'x': return parse_code(2, c) && single(c);
    case 'u': return parse_code(4, c) && single(c);
    case 'b':
      if (in_set) return single('\b');
      break;
    default: break;
  }
  const bool is_letter_or_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  if (is_letter_or_digit) return fail(std::string("\\") + static_cast<char>(c) + " is not supported");
  return single(c);
}

bool PatternParser::parse_code(size_t num_digits, char32_t& c) {
  c = 0;
  for (size_t i = 0; i < num_digits; ++i, ++at_) {
    const char digit = has_more() ? static_cast<char>(text_[at_] | 0x20) : ' ';
    if (is_digit(digit)) c = c * 16 + static_cast<char32_t>(digit - '0');
    else if (digit >= 'a' && digit <= 'f') c = c * 16 + static_cast<char32_t>(digit - 'a' + 10);
    else return fail(concat("expected ", num_digits, " hexadecimal digits"));
  }
  return true;
}

bool PatternParser::read_character(char32_t& c) {  // the text is valid UTF-8, because parse_json returned it
  const text::Character character = text::read_character(text_.data() + at_);
  at_ += character.num_bytes;
  c = character.value;
  return true;
}

}  // namespace pagoda::grammar
