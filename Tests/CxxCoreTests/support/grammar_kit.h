// Shared by grammar tests: a small vocabulary with awkward tokens, random documents, and a slow, simple validator.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "grammar/mask/token_grammar.h"
#include "pagoda/grammar.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::test {

struct NamedSchema {
  std::string name;
  io::Json schema;
  std::string text;
};
std::vector<NamedSchema> read_schemas();

// Every byte is a token (its id is its value); then tokens that cross the boundaries of JSON tokens and of characters;
// then the control tokens <|end|>, <think> and </think>.
std::shared_ptr<const text::SubwordTokenizer> make_awkward_tokenizer();
int32_t end_id(const text::SubwordTokenizer& tokenizer);

// Null, after recording a failed check, if the schema does not compile.
std::shared_ptr<grammar::TokenGrammar> make_grammar(const GrammarSpec& spec, const text::SubwordTokenizer& tokenizer);

bool is_allowed(std::span<const uint64_t> mask, int32_t token);
std::vector<int32_t> allowed_tokens(std::span<const uint64_t> mask);

// Draws allowed tokens, preferring those that close something, until the document ends; empty if it takes too long.
std::string random_document(const std::shared_ptr<grammar::TokenGrammar>& grammar,
                            const text::SubwordTokenizer& tokenizer, std::mt19937_64& random, int max_tokens);

// Whether the value satisfies the schema; patterns are checked only if both sides are ASCII, formats never.
bool satisfies(const io::Json& root, const io::Json& schema, const io::Json& value);

}  // namespace pagoda::test
