// ParameterKind: how the text of an XML parameter becomes a value of its schema. The call parser converts by it, and
// the grammar of calls writes by it, so that what is written is what is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace pagoda::text {

struct ParameterKind {
  bool may_be_string = true;  // the text is kept verbatim, unless it is null and null is allowed, or one of `listed`
  bool may_be_null = false;
  bool may_be_json = false;         // numbers, booleans, objects, arrays
  bool is_open = false;             // the schema names no type: JSON if the text is JSON, otherwise a string
  bool is_exact = true;             // false: the schema has too many alternatives to find its types
  std::vector<std::string> listed;  // values beside strings in an enum or in const alternatives, as JSON
  size_t num_steps = 0;             // the work of finding this, of some nanoseconds each
};

// The kind of the member `name` of an object that satisfies `schema`, which is also the root of its references. Looks
// through $ref and allOf of `schema` itself, and through all combinations in the member's schemas.
ParameterKind parameter_kind(const io::Json& schema, std::string_view name);

}  // namespace pagoda::text
