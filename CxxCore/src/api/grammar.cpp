// Checks of constraints, for the public headers.
#include "pagoda/grammar.h"

#include "api/guard.h"
#include "grammar/compile.h"

namespace pagoda {

Status check_grammar(const GrammarSpec& grammar) noexcept {
  return api::guarded([&] { return grammar::compile(grammar).status; });
}

}  // namespace pagoda
