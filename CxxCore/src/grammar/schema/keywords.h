// The keywords of JSON schemas: enforced, ignored as annotations, or refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace pagoda::grammar {

enum class Keyword { enforced, note, unknown };
Keyword classify(std::string_view keyword) noexcept;

// Whether a keyword that is not enforced says nothing with this value: uniqueItems false, minProperties 0.
bool is_idle(std::string_view keyword, const io::Json& value) noexcept;

bool has_constraints(const io::Json& schema) noexcept;  // any keyword that is enforced
io::Json without(const io::Json& schema, std::string_view keyword);

// The types a schema allows: `type`, else those its keywords are about; empty when all are.
std::vector<std::string> types_of(const io::Json& schema);

// The regular expression of a string format; empty for a format that is not known. "" is never a format's.
std::string_view format_pattern(std::string_view format) noexcept;

}  // namespace pagoda::grammar
