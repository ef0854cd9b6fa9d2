// "%s" % x and "{}".format(x). Untrusted arguments stay marked as untrusted in the result.
#include "base/concat.h"
#include "text/jinja/value/number.h"
#include "text/jinja/value/objects.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"
#include "text/unicode/unicode.h"

namespace pagoda::text::jinja {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int64_t read_number(Runtime& runtime, std::string_view text, size_t& at) {
  int64_t number = 0;
  while (at < text.size() && is_digit(text[at]) && number <= kMaxFormatWidth) number = number * 10 + (text[at++] - '0');
  if (number > kMaxFormatWidth) runtime.fail_budget(concat("a format asks for a width above ", kMaxFormatWidth));
  return std::min(number, kMaxFormatWidth);
}

// Pads and truncates a string (counted in characters) according to width and precision.
void append_formatted_text(Runtime& runtime, const Value& value, const FormatSpec& spec, TextBuilder& out) {
  Value text = to_str(runtime, value);
  if (spec.precision >= 0) {
    const size_t end = offset_of_character(text.bytes(), static_cast<size_t>(spec.precision));
    if (end < text.bytes().size()) text = runtime.slice_text(*text.text, 0, end);
  }
  const int64_t missing = spec.width - length_of(runtime, text);
  const int64_t left = missing <= 0 ? 0 : spec.align == '>' ? missing : spec.align == '^' ? missing / 2 : 0;
  for (int64_t i = 0; i < left; ++i) out.append(spec.fill, true);
  out.append(*text.text);
  for (int64_t i = left; i < missing; ++i) out.append(spec.fill, true);
}

class PercentFormat {
 public:
  PercentFormat(Runtime& runtime, const Value& format, const Value& arguments)
      : runtime_(runtime), format_(format), arguments_(arguments), out_(runtime) {}

  Value run() {
    const std::string_view text = format_.bytes();
    while (at_ < text.size() && runtime_.work(8)) {
      const size_t percent = std::min(text.find('%', at_), text.size());
      out_.append(*format_.text, at_, percent);
      at_ = percent;
      if (at_ < text.size()) conversion(text);
    }
    const bool all_used =
        !arguments_.is(Kind::tuple) ? used_ > 0 || is_mapping_like() : used_ >= arguments_.sequence().items.size();
    if (runtime_.ok() && !all_used) return runtime_.fail("not all arguments converted during string formatting");
    return out_.finish();
  }

 private:
  // Python checks for __getitem__: such an argument may go unused.
  bool is_mapping_like() const {
    return arguments_.is(Kind::dict) || arguments_.is(Kind::list) || arguments_.is(Kind::range) ||
           arguments_.is_undefined();
  }

  Value next_argument() {
    const size_t count = arguments_.is(Kind::tuple) ? arguments_.sequence().items.size() : 1;
    if (used_ >= count) return runtime_.fail("not enough arguments for format string");
    return arguments_.is(Kind::tuple) ? arguments_.sequence().items[used_++] : (++used_, arguments_);
  }

  void conversion(std::string_view text) {
    ++at_;
    FormatSpec spec;
    Value argument;
    if (at_ < text.size() && text[at_] == '(') {
      const size_t close = text.find(')', at_);
      if (close == std::string_view::npos) return (void)runtime_.fail("incomplete format key");
      if (!arguments_.is(Kind::dict)) return (void)runtime_.fail("format requires a mapping");
      const Value* found = find_in_dict(arguments_.dict(), text.substr(at_ + 1, close - at_ - 1));
      if (found == nullptr) return (void)runtime_.fail("format key is not in the mapping");
      argument = *found;
      at_ = close + 1;
    }
    for (; at_ < text.size() && std::string_view("-+ #0").find(text[at_]) != std::string_view::npos; ++at_) {
      if (text[at_] == '-') spec.align = '<';
      else if (text[at_] == '#') spec.alternate = true;
      else if (text[at_] == '0') spec.fill = "0";
      else if (spec.sign != '+') spec.sign = text[at_];
    }
    spec.width = read_number(runtime_, text, at_);
    if (at_ < text.size() && text[at_] == '.') spec.precision = read_number(runtime_, text, ++at_);
    if (at_ >= text.size()) return (void)runtime_.fail("incomplete format");
    spec.type = text[at_++];
    if (spec.type == '%') return out_.append("%", format_.text->all_trusted());
    convert(spec, argument.is_missing() ? next_argument() : argument);
  }

  void convert(FormatSpec spec, const Value& argument) {
    const bool left = spec.align == '<';
    if (spec.type == 's' || spec.type == 'r' || spec.type == 'a') {
      spec.fill = " ";
      spec.align = left ? '<' : '>';
      return append_formatted_text(runtime_, spec.type == 's' ? argument : to_repr(runtime_, argument), spec, out_);
    }
    if (left) spec.fill = " ";
    else if (spec.fill == "0") spec.align = '=';
    if (argument.is_undefined()) return (void)runtime_.fail_undefined(argument);
    const bool integral = std::string_view("diuxXo").find(spec.type) != std::string_view::npos;
    if (spec.type == 'c' && argument.is_string()) return append_formatted_text(runtime_, argument, spec, out_);
    if (!argument.is_number())
      return (void)runtime_.fail(std::string("%") + spec.type + " format: a real number is required, not " +
                                 type_name(argument));
    if (integral) {
      const bool fits = argument.is_integral() || (argument.real > -9e18 && argument.real < 9e18);
      if (!fits) return (void)runtime_.fail("integer result does not fit 64 bits");
      out_.append(format_integer(argument.is_integral() ? argument.integer : static_cast<int64_t>(argument.real), spec),
                  true);
    } else if (std::string_view("eEfFgG").find(spec.type) != std::string_view::npos) {
      out_.append(format_real(argument.as_real(), spec), true);
    } else {
      runtime_.fail(std::string("unsupported format character '") + spec.type + "'");
    }
  }

  Runtime& runtime_;
  const Value& format_;
  const Value& arguments_;
  TextBuilder out_;
  size_t at_ = 0;
  size_t used_ = 0;
};

bool parse_spec(Runtime& runtime, std::string_view text, FormatSpec& spec) {
  constexpr std::string_view kAligns = "<>^=";
  size_t at = 0;
  const size_t first = text.empty() ? 0 : read_character(text.data()).num_bytes;
  if (first < text.size() && kAligns.find(text[first]) != std::string_view::npos) {
    spec.fill = std::string(text.substr(0, first));
    spec.align = text[first];
    at = first + 1;
  } else if (!text.empty() && kAligns.find(text[0]) != std::string_view::npos) {
    spec.align = text[at++];
  }
  const auto take = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != std::string_view::npos ? text[at++] : '\0';
  };
  if (const char sign = take("+- ")) spec.sign = sign == '-' ? '\0' : sign;
  spec.alternate = take("#") != 0;
  if (take("0") != 0 && spec.align == 0) spec.fill = "0", spec.align = '=';
  spec.width = read_number(runtime, text, at);
  spec.grouping = take(",_");
  if (take(".") != 0) spec.precision = read_number(runtime, text, at);
  spec.type = take("bcdeEfFgGnosxX%");
  return at == text.size();
}

void append_field(Runtime& runtime, const Value& value, std::string_view spec_text, TextBuilder& out) {
  FormatSpec spec;
  if (!parse_spec(runtime, spec_text, spec))
    return (void)runtime.fail("Invalid format specifier '" + std::string(spec_text) + "'");
  if (spec_text.empty()) return append_str(runtime, value, out);
  const bool real_type = spec.type != 0 && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  if (value.is(Kind::real) || (value.is_integral() && real_type))
    return out.append(format_real(value.as_real(), spec), true);
  if (value.is_integral()) return out.append(format_integer(value.integer, spec), true);
  if (value.is_string()) return append_formatted_text(runtime, value, spec, out);
  runtime.fail(std::string("unsupported format string passed to ") + type_name(value) + ".__format__");
}

// The value that a replacement field names: a position or a keyword, then attributes and items.
Value field_value(Runtime& runtime, std::string_view name, const Arguments& arguments, int64_t& next_index) {
  const size_t head_end = std::min(name.find_first_of(".["), name.size());
  const std::string_view head = name.substr(0, head_end);
  Value value;
  int64_t index = -1;
  if (head.empty()) index = next_index++;
  else if (!parse_integer(head, 10, index)) index = -1;
  if (index >= 0) {
    if (static_cast<size_t>(index) >= arguments.positional.size())
      return runtime.fail(concat("Replacement index ", index, " out of range for positional args tuple"));
    value = arguments.positional[index];
  } else {
    for (const auto& [key, given] : arguments.named) {
      if (key == head) value = given;
    }
    if (value.is_missing()) return runtime.fail("format() has no argument '" + std::string(head) + "'");
  }
  for (size_t at = head_end; at < name.size() && runtime.work(64);) {
    const bool attribute = name[at] == '.';
    const size_t end = std::min(attribute ? name.find_first_of(".[", at + 1) : name.find(']', at + 1), name.size());
    const std::string key(name.substr(at + 1, end - at - 1));
    int64_t number = 0;
    value = attribute ? get_attribute(runtime, value, key)
                      : get_item(runtime, value,
                                 parse_integer(key, 10, number) ? Value::of_int(number) : Value::literal(key));
    at = attribute ? end : end + 1;
  }
  return value;
}

}  // namespace

Value percent_format(Runtime& runtime, const Value& format, const Value& arguments) {
  return PercentFormat(runtime, format, arguments).run();
}

Value brace_format(Runtime& runtime, const Value& format, const Arguments& arguments) {
  TextBuilder out(runtime);
  const std::string_view text = format.bytes();
  int64_t next_index = 0;
  for (size_t at = 0; at < text.size() && runtime.work(8);) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      out.append(*format.text, at, at + 1);
      at += 2;
    } else if (c == '}') {
      return runtime.fail("Single '}' encountered in format string");
    } else if (c != '{') {
      const size_t end = std::min(text.find_first_of("{}", at), text.size());
      out.append(*format.text, at, end);
      at = end;
    } else {
      const size_t close = text.find('}', at);
      if (close == std::string_view::npos) return runtime.fail("Single '{' encountered in format string");
      std::string_view field = text.substr(at + 1, close - at - 1), spec;
      if (field.find('{') != std::string_view::npos) return runtime.fail("nested replacement fields are not supported");
      if (const size_t colon = field.find(':'); colon != std::string_view::npos) {
        spec = field.substr(colon + 1);
        field = field.substr(0, colon);
      }
      char conversion = 0;
      if (field.size() >= 2 && field[field.size() - 2] == '!') {
        conversion = field.back();
        field.remove_suffix(2);
      }
      Value value = field_value(runtime, field, arguments, next_index);
      if (conversion != 0) value = conversion == 's' ? to_str(runtime, value) : to_repr(runtime, value);
      append_field(runtime, value, spec, out);
      at = close + 1;
    }
  }
  return out.finish();
}

}  // namespace pagoda::text::jinja
