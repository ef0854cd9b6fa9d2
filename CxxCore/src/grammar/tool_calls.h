// Calls of tools as a grammar: the frame in the model's own format, a name from the list, arguments by schema.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

// `spec` is {"format": "xml" or "json", "mode": "required" or "auto", "parallel": whether more than one call may come,
// "tools": [{"name", "parameters", "strict"}], "value": schema of an answer that is no call}. Arguments must satisfy
// `parameters` where `strict`, or where the mode is required and the schema can be enforced. Without `value`, auto
// allows any text before the calls. invalid_argument names the tool whose schema cannot be enforced.
Result<Grammar> compile_tool_calls(const io::Json& spec);

}  // namespace pagoda::grammar
