// The tokenizer fixtures: rebuilds tokenizer.json files from their compact form and reads the expected ids.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/bpe/tokenizer.h"

namespace pagoda::test {

std::string read_fixture(const std::string& path);  // empty if it cannot be read

// The text of <family>.json with the first num_tokens (0: all) tokens of <vocabulary>.pairs and their merges in it.
enum class MergeForm { strings, pairs };  // "a b" or ["a", "b"]
std::string make_tokenizer_json(const std::string& family, const std::string& vocabulary, size_t num_tokens,
                                MergeForm form);

struct TokenizerCase {
  std::string text;
  bool parse_special;
  std::vector<int32_t> ids;  // the reference's ids
  std::string decoded;       // from all ids, including special tokens
};
std::vector<TokenizerCase> read_tokenizer_cases(const std::string& family);

// The words that a pattern (by its index in WordPattern) splits the texts into.
struct WordCase {
  size_t pattern;
  std::string text;
  std::vector<size_t> word_bytes;
};
std::vector<WordCase> read_word_cases();

// The smallest tokenizer: every byte is a token (its id is its value), no merges, the Qwen2 pattern. `added_tokens`,
// `vocab` and `merges` are JSON items appended to the existing ones.
std::string make_byte_tokenizer_json(const std::string& added_tokens = "", const std::string& vocab = "",
                                     const std::string& merges = "");

std::string spell_bytes(const std::string& bytes);  // as a byte-level token in tokenizer.json, including JSON escapes

std::string decode_all(const text::SubwordTokenizer& tokenizer, const std::vector<int32_t>& ids, bool skip_special);

}  // namespace pagoda::test
