// Grammars in llama.cpp's notation (GBNF), which vLLM's structured outputs also accept.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/compile_budget.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

inline constexpr size_t kMaxGbnfRules = 4096;
inline constexpr int kMaxGbnfDepth = 64;           // nesting of parentheses
inline constexpr int32_t kMaxGbnfCopies = 10'000;  // the largest count in {n,m}

// name ::= "text" | [a-z0-9] [^x] . other-name (groups) with * + ? {n} {n,} {n,m}; # starts a comment; a document is
// anything that the rule `root` matches. A rule ends where the next one starts. Refused with their name: rules that are
// missing, defined twice, or left-recursive; any other syntax error is reported with its line.
Result<Grammar> compile_gbnf(std::string_view text, CompileBudget& budget);

}  // namespace pagoda::grammar
