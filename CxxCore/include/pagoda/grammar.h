// GrammarSpec: what the answer of a request must be. Enforced token by token; what cannot be enforced is refused.
#pragma once

#include <string>

namespace pagoda {

// The grammar holds from the first token on, or from the end of thinking when the prompt opened it. The request ends
// with its document; max_tokens may end it before, and then the finish reason is `length`.
struct GrammarSpec {
  // "" = none, "json_object" = any JSON object, "json_schema" = what `schema` says, "tool_calls" = calls of tools, or
  // text and calls.
  std::string kind;
  // JSON text of the schema; for tool_calls, of {"format": "xml" or "json", "mode": "required" or "auto", "parallel":
  // whether more than one call may come, "tools": [{"name", "parameters", "strict"}], "value": schema of an answer that
  // is no call}. Arguments are held to `parameters` where `strict`, or where mode is required and that can be done.
  // Without `value`, auto allows any text before the calls.
  std::string schema;
};

}  // namespace pagoda
