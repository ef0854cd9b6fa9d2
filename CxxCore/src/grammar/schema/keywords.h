// The keywords of JSON schemas: enforced, ignored as annotations, or refused.
#pragma once

#include <string_view>

#include "base/json.h"

namespace pagoda::grammar {

enum class Keyword { enforced, note, unknown };
Keyword classify(std::string_view keyword) noexcept;

// Whether an unenforced keyword has no effect with this value: uniqueItems false, minProperties 0.
bool is_idle(std::string_view keyword, const io::Json& value) noexcept;

// Whether the schema has an enforced keyword other than `except`.
bool has_constraints(const io::Json& schema, std::string_view except = {}) noexcept;

// The regular expression of a string format; empty for a format that is
// unknown or does not constrain the text: both are annotations.
std::string_view format_pattern(std::string_view format) noexcept;

}  // namespace pagoda::grammar
