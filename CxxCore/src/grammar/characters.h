// Characters of JSON strings as bytes of a grammar: valid UTF-8, escapes where JSON wants them.
#pragma once

#include <cstdint>

#include "grammar/grammar_builder.h"

namespace pagoda::grammar {

inline constexpr char32_t kLastCharacter = 0x10FFFF;

// Any character in any spelling JSON has: raw, short escape, \uXXXX, a pair of surrogates.
void add_any_character(GrammarBuilder& builder, int32_t from, int32_t to);

// The characters first..last in one spelling each: raw, or escaped where it must be. Surrogates are none.
void add_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to);

// The characters first..last as they are in plain text, where nothing is escaped.
void add_text_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to);

// The same without control characters, quotes and backslashes.
void add_raw_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to);

}  // namespace pagoda::grammar
