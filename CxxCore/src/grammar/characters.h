// Characters of JSON strings as bytes of a grammar: valid UTF-8, with escapes where JSON requires them.
#pragma once

#include <cstdint>

#include "grammar/grammar_builder.h"

namespace pagoda::grammar {

inline constexpr char32_t kLastCharacter = 0x10FFFF;

// Any character in any spelling that JSON allows: raw, short escape, \uXXXX, a pair of surrogates.
void add_any_character(GrammarBuilder& builder, int32_t from, int32_t to);

// The characters first..last in one spelling each: raw, or escaped if necessary. Surrogates are excluded.
void add_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to);

// The characters first..last in plain text, where nothing is escaped.
void add_text_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to);

// The same without control characters, quotes and backslashes.
void add_raw_characters(GrammarBuilder& builder, int32_t from, char32_t first, char32_t last, int32_t to);

}  // namespace pagoda::grammar
