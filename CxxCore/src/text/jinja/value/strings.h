// Python's str methods, and the formats "%s" % x and "{}".format(x). Byte origins survive slicing and joining.
#pragma once

#include <string_view>

#include "text/jinja/arguments.h"
#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

Value escape_html(Runtime& runtime, const Value& value);  // Markup is returned unchanged
Value percent_format(Runtime& runtime, const Value& format, const Value& arguments);
Value brace_format(Runtime& runtime, const Value& format, const Arguments& arguments);

Value strip(Runtime& runtime, const Value& text, const Value& characters, bool left, bool right);
Value replace(Runtime& runtime, const Value& text, const Value& from, const Value& to, int64_t max_count);
Value join(Runtime& runtime, const Value& separator, const Value& items);  // every item as str()
std::vector<std::pair<size_t, size_t>> line_spans(Runtime& runtime, std::string_view text,
                                                  bool keep_ends);  // splitlines
Value map_text(Runtime& runtime, const Value& text, std::string (*convert)(std::string_view));
std::string to_capitalized(std::string_view text);
std::string to_title(std::string_view text);  // str.title

bool is_string_method(std::string_view name);
Value call_string_method(Runtime& runtime, const Value& text, std::string_view name, const Arguments& arguments);

}  // namespace pagoda::text::jinja
