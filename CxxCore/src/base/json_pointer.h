// JSON pointers (RFC 6901) in the form of URI fragments, as references of JSON schemas use them.
#pragma once

#include <string_view>

#include "base/json.h"

namespace pagoda::io {

// `pointer` is empty, or /step/step with the escapes ~0, ~1 and %XX. Null if it points nowhere.
const Json* find_pointer(const Json& root, std::string_view pointer);

// The same for "#" and "#/step/step"; null for any other reference.
const Json* find_reference(const Json& root, std::string_view reference);

}  // namespace pagoda::io
