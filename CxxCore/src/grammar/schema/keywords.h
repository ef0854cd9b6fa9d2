// The keywords of JSON schemas: enforced, ignored as annotations, or refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace pagoda::grammar {

enum class Keyword { enforced, note, unknown };
Keyword classify(std::string_view keyword) noexcept;

// Whether an unenforced keyword has no effect with this value: uniqueItems false, minProperties 0.
bool is_idle(std::string_view keyword, const io::Json& value) noexcept;

bool has_constraints(const io::Json& schema) noexcept;  // any keyword that is enforced
io::Json without(const io::Json& schema, std::string_view keyword);

// The types that a schema allows: `type`, or else those that its keywords apply to; empty if all are allowed.
std::vector<std::string> types_of(const io::Json& schema);

// The regular expression of a string format; empty for an unknown format. No format has the expression "".
std::string_view format_pattern(std::string_view format) noexcept;

}  // namespace pagoda::grammar
