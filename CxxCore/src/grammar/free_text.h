// Free text inside a grammar: any bytes up to one of several terminators.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "grammar/grammar_builder.h"

namespace pagoda::grammar {

struct EndWord {
  std::string_view word;
  int32_t target;  // the next state, or -1: the word is forbidden
};

// Text from `from` on. With `end` >= 0 it may also end at any point and continue in state `end`.
void add_free_text(GrammarBuilder& builder, int32_t from, std::span<const EndWord> words, int32_t end = -1);

}  // namespace pagoda::grammar
