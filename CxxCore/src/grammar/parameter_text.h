// The text of one parameter of an XML call: which bytes cannot be part of it, and the tag that ends it.
#pragma once

#include <string_view>

#include "grammar/grammar_builder.h"

namespace pagoda::grammar {

// Tags at which the call parser may see the end of a value. They never occur in a parameter that the grammar writes.
const Guard& parameter_guard();
bool fits_parameter(std::string_view text) noexcept;  // contains none of them

// The two states between which the value is written: behind them, its end tag leads to `to`.
struct ParameterSlot {
  int32_t from, to;
};
ParameterSlot add_parameter_frame(GrammarBuilder& builder, int32_t from, int32_t to);

// Any text.
Rule add_any_text(GrammarBuilder& builder);

}  // namespace pagoda::grammar
