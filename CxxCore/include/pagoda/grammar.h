// GrammarSpec: a constraint on the answer of a request. Enforced token by token; unenforceable constraints are refused.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/status.h"

namespace pagoda {

enum class GrammarKind : uint8_t {
  none,
  json_object,  // any
  json_schema,
  tool_calls,  // grammar/tool_calls.h
  regex,       // the whole text matches
  choice,      // one of some texts
  gbnf         // a grammar in llama.cpp's notation (grammar/gbnf.h)
};

// The grammar applies from the first token on, or from the end of thinking if the prompt opened it. The request ends
// with its document; max_tokens may end it earlier, and then the finish reason is `length`.
struct GrammarSpec {
  GrammarKind kind = GrammarKind::none;
  std::string schema;  // JSON text of the schema, of the tools or of the choices; the expression; the grammar
};

// Whether the constraint can be enforced, without a model: what Engine::compile_grammar() would answer.
Status check_grammar(const GrammarSpec& grammar) noexcept;

}  // namespace pagoda
