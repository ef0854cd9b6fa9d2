// Filters and tests available to templates; resolved once at parse time, or by map and select at run time.
#pragma once

#include <string_view>

#include "text/jinja/arguments.h"
#include "text/jinja/runtime.h"

namespace pagoda::text::jinja {

using Filter = Value (*)(Runtime& runtime, const Value& input, const Arguments& arguments);
using Test = bool (*)(Runtime& runtime, const Value& input, const Arguments& arguments);

struct NamedFilter {
  std::string_view name;
  Filter filter;
};

Filter find_filter(std::string_view name) noexcept;  // null if unknown
Test find_test(std::string_view name) noexcept;
bool is_unsupported_filter(std::string_view name) noexcept;  // exists in jinja2 but not here

// The two tables behind find_filter.
Filter find_text_filter(std::string_view name) noexcept;
Filter find_sequence_filter(std::string_view name) noexcept;

}  // namespace pagoda::text::jinja
