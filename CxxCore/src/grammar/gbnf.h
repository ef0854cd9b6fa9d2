// Grammars in the notation of llama.cpp (GBNF), which vLLM's structured outputs take as well.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

inline constexpr size_t kMaxGbnfRules = 4096;
inline constexpr int kMaxGbnfDepth = 64;           // of parentheses
inline constexpr int32_t kMaxGbnfCopies = 10'000;  // the most that {n,m} may say

// name ::= "text" | [a-z0-9] [^x] . other-name (groups) with * + ? {n} {n,} {n,m}; # begins a comment; the document is
// what the rule `root` spells. A rule ends where the next begins. Refused by name: rules that are missing, defined
// twice, or begin with themselves; anything else that is not understood, with its line.
Result<Grammar> compile_gbnf(std::string_view text);

}  // namespace pagoda::grammar
