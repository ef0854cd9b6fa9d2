// Grammars of answers that are plain text: a regular expression, or one of some texts.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "grammar/compile_budget.h"
#include "grammar/grammar.h"

namespace pagoda::grammar {

inline constexpr size_t kMaxChoices = 10'000;

// The whole text must match, as with fullmatch in Python; see compile_pattern for the supported syntax.
Result<Grammar> compile_regex(std::string_view expression, CompileBudget& budget);

// `choices`: an array of strings, none of them empty.
Result<Grammar> compile_choice(const io::Json& choices, CompileBudget& budget);

}  // namespace pagoda::grammar
