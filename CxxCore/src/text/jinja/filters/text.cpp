// Filters on one value: text, numbers, JSON.
#include <algorithm>
#include <cmath>

#include "base/concat.h"
#include "text/jinja/filters/filters.h"
#include "text/jinja/value/case.h"
#include "text/jinja/value/number.h"
#include "text/jinja/value/objects.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

Value filter_upper(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "upper", {}, 0);
  return map_text(rt, to_str(rt, in), to_upper);
}

Value filter_lower(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "lower", {}, 0);
  return map_text(rt, to_str(rt, in), to_lower);
}

Value filter_capitalize(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "capitalize", {}, 0);
  return map_text(rt, to_str(rt, in), to_capitalized);
}

// Differs from str.title: words start after spaces, opening brackets and hyphens, but not after apostrophes.
std::string filter_title_text(std::string_view text) {
  std::string out;
  size_t word = 0;  // start of the current word
  const auto flush = [&](size_t end) {
    if (end == word) return;
    const size_t first = read_character(text.data() + word).num_bytes;
    out += to_upper(text.substr(word, first)) + to_lower(text.substr(word + first, end - word - first));
  };
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i);
    const bool separates =
        is_space(c.value) ||
        (c.value < 0x80 && std::string_view("-({[<").find(static_cast<char>(c.value)) != std::string_view::npos);
    if (separates) {
      flush(i);
      out.append(text, i, c.num_bytes);
      word = i + c.num_bytes;
    }
    i += c.num_bytes;
  }
  flush(text.size());
  return out;
}

Value filter_title(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "title", {}, 0);
  return map_text(rt, to_str(rt, in), filter_title_text);
}

Value filter_trim(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "trim", {"chars"}, 0);
  return strip(rt, to_str(rt, in), args[0], true, true);
}

Value filter_replace(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "replace", {"old", "new", "count"}, 2);
  return replace(rt, to_str(rt, in), to_str(rt, args[0]), to_str(rt, args[1]), integer_or(rt, args[2], -1, "count"));
}

Value filter_string(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "string", {}, 0);
  return to_str(rt, in);
}

Value filter_safe(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "safe", {}, 0);
  Value value = to_str(rt, in);
  value.markup = true;
  return value;
}

Value filter_escape(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "escape", {}, 0);
  return escape_html(rt, in);
}

Value filter_format(Runtime& rt, const Value& in, const Arguments& a) {
  if (!a.positional.empty() && !a.named.empty())
    return rt.fail("can't handle positional and keyword arguments at the same time");
  if (a.named.empty()) return percent_format(rt, to_str(rt, in), rt.make_list(a.positional, Kind::tuple));
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [name, value] : a.named) entries.emplace_back(Value::literal(name), value);
  return percent_format(rt, to_str(rt, in), rt.make_dict(std::move(entries)));
}

Value filter_indent(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "indent", {"width", "first", "blank"}, 0);
  const Value text = arithmetic(rt, Operator::add, in, Value::literal("\n"));
  const Value spaces = Value::of_int(args[0].is_string() ? 0 : integer_or(rt, args[0], 4, "width"));
  const Value indention =
      args[0].is_string() ? args[0] : arithmetic(rt, Operator::multiply, Value::literal(" "), spaces);
  if (!text.is_string() || !indention.is_string()) return text;
  TextBuilder out(rt);
  if (truthy(args[1])) out.append(*indention.text);
  const auto spans = line_spans(rt, text.bytes(), false);
  for (size_t i = 0; i < spans.size() && rt.work(64); ++i) {
    const auto [begin, end] = spans[i];
    if (i > 0) out.append("\n", true);
    if (i > 0 && (truthy(args[2]) || end > begin)) out.append(*indention.text);
    out.append(*text.text, begin, end);
  }
  return out.finish();
}

Value filter_truncate(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "truncate", {"length", "killwords", "end", "leeway"}, 0);
  const int64_t length = std::max<int64_t>(integer_or(rt, args[0], 255, "length"), -1);
  const int64_t leeway = integer_or(rt, args[3], 5, "leeway");
  const Value end = args[2].is_missing() ? Value::literal("...") : to_str(rt, args[2]);
  const int64_t kept = length - length_of(rt, end);
  if (kept < 0 || leeway < 0) return rt.fail("truncate: length must be at least that of the end, leeway at least 0");
  if (length_of(rt, in) - leeway <= length) return in;
  Value head = slice(rt, in, Value(), Value::of_int(kept), Value());
  if (!truthy(args[1]) && head.is_string()) {
    const size_t space = head.bytes().rfind(' ');
    if (space != std::string_view::npos) head = rt.slice_text(*head.text, 0, space);
  }
  return arithmetic(rt, Operator::add, head, end);
}

Value filter_default(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "default", {"default_value", "boolean"}, 0);
  if (!in.is_undefined() && !(truthy(args[1]) && !truthy(in))) return in;
  return args[0].is_missing() ? Value::literal({}) : args[0];
}

Value filter_int(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "int", {"default", "base"}, 0);
  const Value absent = args[0].is_missing() ? Value::of_int(0) : args[0];
  if (in.is_undefined()) return rt.fail_undefined(in);
  if (in.is_integral()) return Value::of_int(in.integer);
  int64_t integer = 0;
  double real = in.is(Kind::real) ? in.real : std::nan("");
  if (in.is_string()) {
    if (parse_integer(in.bytes(), static_cast<int>(integer_or(rt, args[1], 10, "base")), integer))
      return Value::of_int(integer);
    parse_real(in.bytes(), real);
  }
  if (!(real > -9.2e18 && real < 9.2e18)) return absent;
  return Value::of_int(static_cast<int64_t>(real));
}

Value filter_float(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "float", {"default"}, 0);
  if (in.is_undefined()) return rt.fail_undefined(in);
  if (in.is_number()) return Value::of_real(in.as_real());
  double real = 0;
  if (in.is_string() && parse_real(in.bytes(), real)) return Value::of_real(real);
  return args[0].is_missing() ? Value::of_real(0.0) : args[0];
}

Value filter_abs(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "abs", {}, 0);
  if (in.is_undefined()) return rt.fail_undefined(in);
  if (in.is(Kind::real)) return Value::of_real(std::fabs(in.real));
  if (in.is_integral()) return negate(rt, in, in.integer < 0);
  return rt.fail(std::string("bad operand type for abs(): '") + type_name(in) + "'");
}

Value filter_round(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "round", {"precision", "method"}, 0);
  const int64_t precision = integer_or(rt, args[0], 0, "precision");
  const std::string_view method = args[1].is_missing() ? "common" : args[1].bytes();
  if (in.is_undefined()) return rt.fail_undefined(in);
  if (!in.is_number()) return rt.fail(std::string("type ") + type_name(in) + " doesn't define __round__ method");
  if (method == "common" && in.is_integral() && precision >= 0) return Value::of_int(in.integer);
  if (method == "common") {
    const double rounded = round_real(in.as_real(), precision);
    if (in.is_integral() && std::fabs(rounded) > 9.2e18) return rt.fail("integer result does not fit 64 bits");
    return in.is_integral() ? Value::of_int(static_cast<int64_t>(rounded)) : Value::of_real(rounded);
  }
  if (method != "ceil" && method != "floor") return rt.fail("method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = in.as_real() * scale;
  return Value::of_real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value filter_tojson(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}, 0);
  JsonStyle style;
  style.ensure_ascii = truthy(args[0]);
  style.sort_keys = truthy(args[3]);
  style.indented = !args[1].is_missing() && !args[1].is_none();
  if (style.indented) {
    const int64_t width = args[1].is_string() ? 0 : integer_or(rt, args[1], 0, "indent");
    if (width > kMaxFormatWidth) return rt.fail_budget(concat("tojson: indent above ", kMaxFormatWidth));
    style.indent = args[1].is_string() ? std::string(args[1].bytes())
                                       : std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
    style.item_separator = ",";
  }
  if (!args[2].is_missing() && !args[2].is_none()) {
    const bool pair = args[2].is_listlike() && args[2].sequence().items.size() == 2 &&
                      args[2].sequence().items[0].is_string() && args[2].sequence().items[1].is_string();
    if (!pair) return rt.fail("tojson: separators must be two strings");
    style.item_separator = std::string(args[2].sequence().items[0].bytes());
    style.key_separator = std::string(args[2].sequence().items[1].bytes());
  }
  return to_json(rt, in, style);
}

Value filter_attr(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "attr", {"name"}, 1);
  if (!args[0].is_string()) return rt.fail("attr: the name must be str");
  if (in.is(Kind::dict) && !has_method(in, args[0].bytes()))  // attributes only, never items
    return Value::undefined("'dict object' has no attribute '" + std::string(args[0].bytes()) + "'");
  return get_attribute(rt, in, args[0].bytes());
}

constexpr NamedFilter kFilters[] = {
    {"abs", filter_abs},         {"attr", filter_attr},         {"capitalize", filter_capitalize},
    {"d", filter_default},       {"default", filter_default},   {"e", filter_escape},
    {"escape", filter_escape},   {"float", filter_float},       {"format", filter_format},
    {"indent", filter_indent},   {"int", filter_int},           {"lower", filter_lower},
    {"replace", filter_replace}, {"round", filter_round},       {"safe", filter_safe},
    {"string", filter_string},   {"title", filter_title},       {"tojson", filter_tojson},
    {"trim", filter_trim},       {"truncate", filter_truncate}, {"upper", filter_upper}};

}  // namespace

Filter find_text_filter(std::string_view name) noexcept {
  for (const NamedFilter& row : kFilters) {
    if (row.name == name) return row.filter;
  }
  return nullptr;
}

}  // namespace pagoda::text::jinja
