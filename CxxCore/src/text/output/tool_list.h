// ToolList: the tools a model may call, and the types of their parameters.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "text/output/parameter_kind.h"

namespace pagoda::text {

class ToolList {
 public:
  // An array of {"type": "function", "function": {"name", "parameters"}} or of the functions themselves; other kinds of
  // tools are skipped. "" is an empty list.
  static Result<ToolList> parse(std::string_view tools_json);

  bool is_empty() const noexcept { return functions_.items().empty(); }
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  ParameterKind parameter(std::string_view tool, std::string_view name) const;

 private:
  const io::Json* find(std::string_view name) const noexcept;

  io::Json functions_;
};

// The JSON of a non-string value: `text` itself if it is JSON that `kind` allows, accepting Python's True, False and
// None. Empty otherwise.
std::string convert_value(std::string_view text, const ParameterKind& kind);

}  // namespace pagoda::text
