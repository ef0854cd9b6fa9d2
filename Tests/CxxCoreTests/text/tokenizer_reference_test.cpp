// The tokenizer against the `tokenizers` library: the same ids for thousands of awkward texts, and the texts back.
#include <string>
#include <vector>

#include "support/test.h"
#include "support/tokenizer_fixtures.h"
#include "text/bpe/tokenizer.h"
#include "text/pre_tokenizer.h"

namespace pagoda::test {

namespace {

std::string describe(const TokenizerCase& one, const std::vector<int32_t>& ids) {
  std::ostringstream out;
  out << (one.parse_special ? "parsing special tokens, text '" : "text '") << one.text.substr(0, 200) << "' bytes";
  out << std::hex;
  for (size_t i = 0; i < one.text.size() && i < 60; ++i) out << ' ' << +static_cast<unsigned char>(one.text[i]);
  out << std::dec << "\n    expected";
  for (size_t i = 0; i < one.ids.size() && i < 60; ++i) out << ' ' << one.ids[i];
  out << "\n    got     ";
  for (size_t i = 0; i < ids.size() && i < 60; ++i) out << ' ' << ids[i];
  return out.str();
}

void check_family(const std::string& family, const std::string& json, size_t min_cases) {
  const auto tokenizer = text::BpeTokenizer::from_json(json, family);
  REQUIRE_OK(tokenizer);
  const std::vector<TokenizerCase> cases = read_tokenizer_cases(family);
  REQUIRE(cases.size() >= min_cases);
  size_t num_wrong = 0;
  std::vector<int32_t> ids;
  for (const TokenizerCase& one : cases) {
    ids.clear();
    REQUIRE_OK((*tokenizer)->encode(one.text, one.parse_special, ids));
    const bool same_ids = ids == one.ids;
    const bool same_text = decode_all(**tokenizer, one.ids, /*skip_special=*/false) == one.decoded;
    if (same_ids && same_text) continue;
    if (++num_wrong <= 5) note((same_ids ? "decoded text differs: " : "ids differ: ") + describe(one, ids));
  }
  CHECK_EQ(num_wrong, size_t{0});
}

}  // namespace

// Ids hide most word boundaries that no merge crosses, so the words have a test of their own.
PAGODA_TEST(tokenizer_cuts_reference_words_with_every_pattern) {
  const std::vector<WordCase> cases = read_word_cases();
  REQUIRE(cases.size() > 10'000);
  CHECK_EQ(cases.back().pattern, static_cast<size_t>(text::WordPattern::decimal));
  size_t num_wrong = 0;
  for (const WordCase& one : cases) {
    std::vector<size_t> word_bytes;
    for (size_t at = 0; at < one.text.size(); at += word_bytes.back()) {
      const auto pattern = static_cast<text::WordPattern>(one.pattern);
      word_bytes.push_back(text::find_word_end(pattern, one.text, at) - at);
    }
    if (word_bytes == one.word_bytes) continue;
    if (++num_wrong <= 5) note("pattern " + std::to_string(one.pattern) + ", text '" + one.text + "'");
  }
  CHECK_EQ(num_wrong, size_t{0});
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_the_qwen2_vocabulary) {
  check_family("qwen2", make_tokenizer_json("qwen2", "qwen2", 0, MergeForm::strings), 5000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_the_qwen3_5_vocabulary) {
  check_family("qwen3_5", make_tokenizer_json("qwen3_5", "qwen3_5", 0, MergeForm::pairs), 5000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_llama3_pattern_and_ignored_merges) {
  check_family("llama3", make_tokenizer_json("llama3", "qwen2", 8192, MergeForm::pairs), 1000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_single_digits_before_the_gpt2_pattern) {
  check_family("smollm2", make_tokenizer_json("smollm2", "qwen2", 8192, MergeForm::pairs), 1000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_the_gpt2_pattern) {
  check_family("gpt2", make_tokenizer_json("gpt2", "qwen2", 8192, MergeForm::strings), 1000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_every_flag_of_added_tokens) {
  check_family("added", make_tokenizer_json("added", "qwen2", 8192, MergeForm::strings), 1000);
}

// After the embedded model was trained anew: python3 Tools/fixtures/tokenizer_fixtures.py
PAGODA_TEST(tokenizer_gives_reference_ids_with_the_embedded_model) {
  check_family("mini", read_fixture(mini_model_dir() + "/tokenizer.json"), 500);
}

}  // namespace pagoda::test
