// Calls of tools as a grammar: the frame in the model's own format, a name from the list, arguments by schema.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "grammar/compile_budget.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

// `spec` is {"format": "xml" or "json", "mode": "required" or "auto", "parallel": whether several calls are allowed,
// "tools": [{"name", "parameters", "strict"}], "value": schema of an answer without calls}. Arguments must satisfy
// `parameters` if `strict`, or if the mode is required and the schema can be enforced. Without `value`, auto allows
// any text before the calls. Fails with invalid_argument, naming the tool, if a schema cannot be enforced.
Result<Grammar> compile_tool_calls(const io::Json& spec, CompileBudget& budget);

}  // namespace pagoda::grammar
