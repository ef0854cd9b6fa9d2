// Compiles the output constraint of a request to a grammar.
#pragma once

#include "base/result.h"
#include "grammar/compile_budget.h"
#include "grammar/grammar.h"
#include "pagoda/grammar.h"

namespace pagoda::grammar {

inline constexpr size_t kMaxSchemaBytes = 512 << 10;

// invalid_argument names the keyword and its path.
Result<Grammar> compile(const GrammarSpec& spec);
Result<Grammar> compile(const GrammarSpec& spec, CompileBudget& budget);  // a fresh one

}  // namespace pagoda::grammar
