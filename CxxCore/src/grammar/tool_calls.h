// Calls of tools as a grammar: the frame in the model's own format, a name from the list, arguments by schema.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

// `spec` is what GrammarSpec::schema holds for tool_calls. invalid_argument names the tool whose schema cannot be
// enforced.
Result<Grammar> compile_tool_calls(const io::Json& spec);

}  // namespace pagoda::grammar
