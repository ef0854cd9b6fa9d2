// The methods of str that templates may call.
#include <algorithm>
#include <array>

#include "base/concat.h"
#include "text/jinja/value/case.h"
#include "text/jinja/value/number.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

constexpr size_t kNotFound = std::string_view::npos;

std::string_view text_argument(Runtime& runtime, const Value& value, const char* method) {
  if (value.is_string()) return value.bytes();
  if (value.is_undefined()) runtime.fail_undefined(value);
  runtime.fail(std::string(method) + "() argument must be str, not " + type_name(value));
  return {};
}

// The range [start, end) that find, count, startswith ... search; false if start is past the end.
bool search_window(Runtime& runtime, std::string_view text, const Value& start, const Value& end, size_t& begin_byte,
                   size_t& end_byte) {
  begin_byte = 0;
  end_byte = text.size();
  if (start.is_missing() && end.is_missing()) return true;
  const int64_t length = static_cast<int64_t>(count_characters(text));
  int64_t from = integer_or(runtime, start, 0, "start"), to = integer_or(runtime, end, length, "end");
  if (from < 0) from = std::max<int64_t>(from + length, 0);
  if (to < 0) to = std::max<int64_t>(to + length, 0);
  to = std::min(to, length);
  if (from > to) return false;
  begin_byte = offset_of_character(text, static_cast<size_t>(from));
  end_byte = offset_of_character(text, static_cast<size_t>(to));
  return true;
}

Value find_text(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, name, {"sub", "start", "end"}, 1);
  const std::string_view sub = text_argument(runtime, args[0], "find");
  size_t begin = 0, end = 0, found = kNotFound;
  if (search_window(runtime, text.bytes(), args[1], args[2], begin, end)) {
    const std::string_view window = text.bytes().substr(begin, end - begin);
    found = find_bytes(runtime, window, sub, name[0] == 'r');
  }
  if (found != kNotFound)
    return Value::of_int(static_cast<int64_t>(count_characters(text.bytes().substr(0, begin + found))));
  return name.ends_with("index") ? runtime.fail("substring not found") : Value::of_int(-1);
}

Value count_text(Runtime& runtime, const Value& text, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, "count", {"sub", "start", "end"}, 1);
  const std::string_view sub = text_argument(runtime, args[0], "count");
  size_t begin = 0, end = 0;
  if (!search_window(runtime, text.bytes(), args[1], args[2], begin, end)) return Value::of_int(0);
  const std::string_view window = text.bytes().substr(begin, end - begin);
  if (sub.empty()) return Value::of_int(static_cast<int64_t>(count_characters(window)) + 1);
  int64_t count = 0;
  std::string_view rest = window;
  for (size_t at; (at = find_bytes(runtime, rest, sub)) != kNotFound; ++count) rest.remove_prefix(at + sub.size());
  return Value::of_int(count);
}

Value starts_or_ends(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, name, {"prefix", "start", "end"}, 1);
  size_t begin = 0, end = 0;
  if (!search_window(runtime, text.bytes(), args[1], args[2], begin, end)) return Value::of_bool(false);
  const std::string_view window = text.bytes().substr(begin, end - begin);
  const auto matches = [&](const Value& affix) {
    const std::string_view bytes = text_argument(runtime, affix, name[0] == 's' ? "startswith" : "endswith");
    return runtime.ok() && (name[0] == 's' ? window.starts_with(bytes) : window.ends_with(bytes));
  };
  if (!args[0].is(Kind::tuple)) return Value::of_bool(matches(args[0]));
  const auto& affixes = args[0].sequence().items;
  return Value::of_bool(std::any_of(affixes.begin(), affixes.end(), matches));
}

using Spans = std::vector<std::pair<size_t, size_t>>;

void split_on_spaces(Runtime& runtime, std::string_view text, int64_t max_splits, Spans& spans) {
  size_t i = 0;
  const auto skip = [&](bool spaces) {
    while (i < text.size()) {
      const Character c = read_character(text.data() + i);
      if (is_space(c.value) != spaces) break;
      i += c.num_bytes;
    }
  };
  for (skip(true); i < text.size() && runtime.work(64) && runtime.fits(spans.size() * sizeof(Value)); skip(true)) {
    const size_t begin = i;
    if (max_splits >= 0 && static_cast<int64_t>(spans.size()) >= max_splits) {
      spans.emplace_back(begin, text.size());  // the unsplit remainder, including trailing whitespace
      return;
    }
    skip(false);
    spans.emplace_back(begin, i);
  }
}

// Splits at spaces from the right: the same splits as from the left, with surplus leading ones rejoined.
void split_on_spaces_from_right(Runtime& runtime, std::string_view text, int64_t max_splits, Spans& spans) {
  split_on_spaces(runtime, text, -1, spans);
  if (max_splits < 0 || static_cast<int64_t>(spans.size()) <= max_splits + 1) return;
  const size_t joined = spans.size() - static_cast<size_t>(max_splits);
  const std::pair<size_t, size_t> first{spans.front().first, spans[joined - 1].second};
  spans.erase(spans.begin(), spans.begin() + static_cast<ptrdiff_t>(joined));
  // Python keeps whitespace before the remainder.
  spans.insert(spans.begin(), {0, first.second});
}

void split_on_text(Runtime& runtime, std::string_view text, std::string_view separator, int64_t max_splits,
                   bool from_right, Spans& spans) {
  size_t begin = 0, end = text.size();
  while ((max_splits < 0 || static_cast<int64_t>(spans.size()) < max_splits) && runtime.work(64)) {
    const std::string_view rest = text.substr(begin, end - begin);
    const size_t at = find_bytes(runtime, rest, separator, from_right);
    if (at == kNotFound || !runtime.fits(spans.size() * sizeof(Value))) break;
    if (from_right) {
      spans.emplace_back(begin + at + separator.size(), end);
      end = begin + at;
    } else {
      spans.emplace_back(begin, begin + at);
      begin += at + separator.size();
    }
  }
  spans.emplace_back(begin, end);
  if (from_right) std::reverse(spans.begin(), spans.end());
}

Value slices(Runtime& runtime, const Value& text, const Spans& spans, Kind kind = Kind::list) {
  std::vector<Value> items;
  for (const auto& [begin, end] : spans) {
    if (!runtime.work(64)) break;
    items.push_back(runtime.slice_text(*text.text, begin, end));
  }
  return runtime.make_list(std::move(items), kind);
}

Value split(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, name, {"sep", "maxsplit"}, 0);
  const int64_t max_splits = integer_or(runtime, args[1], -1, "maxsplit");
  const bool from_right = name[0] == 'r';
  Spans spans;
  runtime.work(text.bytes().size());
  if (args[0].is_missing() || args[0].is_none()) {
    if (from_right) split_on_spaces_from_right(runtime, text.bytes(), max_splits, spans);
    else split_on_spaces(runtime, text.bytes(), max_splits, spans);
  } else {
    const std::string_view separator = text_argument(runtime, args[0], "split");
    if (separator.empty()) return runtime.fail("empty separator");
    split_on_text(runtime, text.bytes(), separator, max_splits, from_right, spans);
  }
  return slices(runtime, text, spans);
}

Value partition(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, name, {"sep"}, 1);
  const std::string_view separator = text_argument(runtime, args[0], "partition");
  if (separator.empty()) return runtime.fail("empty separator");
  const bool from_right = name[0] == 'r';
  const size_t size = text.bytes().size();
  const size_t at = find_bytes(runtime, text.bytes(), separator, from_right);
  if (at == kNotFound)
    return slices(runtime, text, from_right ? Spans{{0, 0}, {0, 0}, {0, size}} : Spans{{0, size}, {0, 0}, {0, 0}},
                  Kind::tuple);
  return slices(runtime, text, {{0, at}, {at, at + separator.size()}, {at + separator.size(), size}}, Kind::tuple);
}

Value justify(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, name, {"width", "fillchar"}, 1);
  const int64_t missing = std::max<int64_t>(integer_or(runtime, args[0], 0, "width"), 0) - length_of(runtime, text);
  const std::string_view given = args[1].is_missing() ? " " : text_argument(runtime, args[1], "fillchar");
  if (count_characters(given) != 1) return runtime.fail("The fill character must be exactly one character long");
  if (missing <= 0) return text;
  const Value fill = args[1].is_missing() ? Value::literal(" ") : args[1];
  // center puts the odd blank on the left if the width is odd.
  const int64_t width = missing + length_of(runtime, text);
  const int64_t left = name == "rjust" ? missing : name == "ljust" ? 0 : missing / 2 + (missing & width & 1);
  const Value before = arithmetic(runtime, Operator::multiply, fill, Value::of_int(left));
  const Value after = arithmetic(runtime, Operator::multiply, fill, Value::of_int(missing - left));
  return arithmetic(runtime, Operator::add, arithmetic(runtime, Operator::add, before, text), after);
}

Value zero_fill(Runtime& runtime, const Value& text, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, "zfill", {"width"}, 1);
  const int64_t missing = std::max<int64_t>(integer_or(runtime, args[0], 0, "width"), 0) - length_of(runtime, text);
  if (missing <= 0) return text;
  const Value zeros = arithmetic(runtime, Operator::multiply, Value::literal("0"), Value::of_int(missing));
  const size_t sign = text.bytes().starts_with('-') || text.bytes().starts_with('+') ? 1 : 0;
  if (!zeros.is_string()) return zeros;
  TextBuilder out(runtime);
  out.append(*text.text, 0, sign);
  out.append(*zeros.text);
  out.append(*text.text, sign, text.bytes().size());
  return out.finish();
}

Value join_strings(Runtime& runtime, const Value& separator, const Arguments& arguments) {
  const auto args = arguments.bind(runtime, "join", {"iterable"}, 1);
  const Value items = runtime.make_list(to_items(runtime, args[0]));
  for (size_t i = 0; i < items.sequence().items.size(); ++i) {
    const Value& item = items.sequence().items[i];
    if (!item.is_string())
      return runtime.fail(concat("sequence item ", i, ": expected str instance, ", type_name(item), " found"));
  }
  return join(runtime, separator, items);
}

std::string swap_case(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    if (is_upper(c.value)) append_lower_at(text, i, out);
    else if (is_lower(c.value)) append_upper(c.value, out);
    else out.append(text, i, c.num_bytes);
    i += c.num_bytes;
  }
  return out;
}

// isalpha, isdigit, ...: non-empty and every character passes; islower and isupper consider cased ones only.
Value classify(Runtime& runtime, std::string_view text, std::string_view name) {
  runtime.work(text.size());
  bool any = false;
  const bool lower = name == "islower", upper = name == "isupper";
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    const uint8_t flags = char_flags(c.value);
    i += c.num_bytes;
    if (lower || upper) {
      if (is_cased(c.value) && !(lower ? is_lower(c.value) : is_upper(c.value))) return Value::of_bool(false);
      any |= is_cased(c.value);
      continue;
    }
    const bool passes = name == "isspace"       ? is_space(c.value)
                        : name == "isascii"     ? c.value < 0x80
                        : name == "isprintable" ? is_printable(c.value)
                        : name == "isalpha"     ? (flags & kLetter) != 0
                        : name == "isalnum"     ? (flags & (kLetter | kNumber)) != 0
                        : name == "isnumeric"   ? (flags & kNumber) != 0
                                                : (flags & kDecimal) != 0;
    if (!passes) return Value::of_bool(false);
    any = true;
  }
  return Value::of_bool(any || name == "isascii" || name == "isprintable");
}

constexpr std::array kMethods = {
    "capitalize",   "casefold",   "center",     "count",     "endswith", "find",       "format",    "index",
    "isalnum",      "isalpha",    "isascii",    "isdecimal", "isdigit",  "islower",    "isnumeric", "isprintable",
    "isspace",      "isupper",    "join",       "ljust",     "lower",    "lstrip",     "partition", "removeprefix",
    "removesuffix", "replace",    "rfind",      "rindex",    "rjust",    "rpartition", "rsplit",    "rstrip",
    "split",        "splitlines", "startswith", "strip",     "swapcase", "title",      "upper",     "zfill"};

}  // namespace

bool is_string_method(std::string_view name) {
  return std::find(kMethods.begin(), kMethods.end(), name) != kMethods.end();
}

Value call_string_method(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments) {
  const auto no_arguments = [&] { arguments.bind(runtime, name, {}, 0); };
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const auto args = arguments.bind(runtime, name, {"chars"}, 0);
    return strip(runtime, text, args[0], name != "rstrip", name != "lstrip");
  }
  if (name == "split" || name == "rsplit") return split(runtime, text, name, arguments);
  if (name == "startswith" || name == "endswith") return starts_or_ends(runtime, text, name, arguments);
  if (name == "replace") {
    const auto args = arguments.bind(runtime, name, {"old", "new", "count"}, 2);
    return replace(runtime, text, args[0], args[1], integer_or(runtime, args[2], -1, "count"));
  }
  if (name == "find" || name == "rfind" || name == "index" || name == "rindex")
    return find_text(runtime, text, name, arguments);
  if (name == "count") return count_text(runtime, text, arguments);
  if (name == "join") return join_strings(runtime, text, arguments);
  if (name == "format") return brace_format(runtime, text, arguments);
  if (name == "partition" || name == "rpartition") return partition(runtime, text, name, arguments);
  if (name == "center" || name == "ljust" || name == "rjust") return justify(runtime, text, name, arguments);
  if (name == "zfill") return zero_fill(runtime, text, arguments);
  if (name == "removeprefix" || name == "removesuffix") {
    const auto args = arguments.bind(runtime, name, {"affix"}, 1);
    const std::string_view affix = text_argument(runtime, args[0], "removeprefix"), bytes = text.bytes();
    if (name == "removeprefix" && bytes.starts_with(affix))
      return runtime.slice_text(*text.text, affix.size(), bytes.size());
    if (name == "removesuffix" && bytes.ends_with(affix))
      return runtime.slice_text(*text.text, 0, bytes.size() - affix.size());
    return text;
  }
  if (name == "splitlines") {
    const auto args = arguments.bind(runtime, name, {"keepends"}, 0);
    return slices(runtime, text, line_spans(runtime, text.bytes(), truthy(args[0])));
  }
  no_arguments();
  if (name == "upper") return map_text(runtime, text, to_upper);
  if (name == "lower" || name == "casefold") return map_text(runtime, text, to_lower);
  if (name == "title") return map_text(runtime, text, to_title);
  if (name == "capitalize") return map_text(runtime, text, to_capitalized);
  if (name == "swapcase") return map_text(runtime, text, swap_case);
  return classify(runtime, text.bytes(), name);
}

}  // namespace pagoda::text::jinja
