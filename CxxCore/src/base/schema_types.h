// The types that a JSON schema names, or implies by keywords that apply to one type only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace pagoda::io {

// "object" for `properties`, "string" for `minLength` and so on; empty for keywords that apply to any type.
std::string_view implied_type(std::string_view keyword) noexcept;

// `type`, or else the types that the keywords apply to; empty if all types are allowed.
std::vector<std::string> schema_types(const Json& schema);

}  // namespace pagoda::io
