// ToolList: the tools a model may call, and what their parameters are.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace pagoda::text {

// What the schema of a parameter makes of its text.
struct ParameterKind {
  bool may_be_string = true;  // the text as it is; nothing else is tried but null
  bool may_be_null = false;
  bool may_be_json = false;  // numbers, booleans, objects, arrays
};

class ToolList {
 public:
  // An array of {"type": "function", "function": {"name", "parameters"}} or of the functions themselves; other kinds of
  // tools are passed over. "" is an empty list.
  static Result<ToolList> parse(std::string_view tools_json);

  bool is_empty() const noexcept { return functions_.items().empty(); }
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  ParameterKind parameter(std::string_view tool, std::string_view name) const;

 private:
  const io::Json* find(std::string_view name) const noexcept;

  io::Json functions_;
};

// The JSON of a value that is no string: `text` itself when it is JSON, with Python's True, False and None understood.
// Empty when it is none.
std::string convert_value(std::string_view text, const ParameterKind& kind);

}  // namespace pagoda::text
