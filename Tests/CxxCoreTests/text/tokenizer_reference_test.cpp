// Compares the tokenizer with the `tokenizers` library: the same ids for thousands of awkward texts, and the same
// decoded texts.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "io/gguf/config.h"
#include "io/gguf/gguf.h"
#include "io/gguf/gguf_file.h"
#include "io/model_files.h"
#include "io/safetensors/safetensors_file.h"
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
  const auto tokenizer = text::SubwordTokenizer::from_json(json, family);
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

// The pre-tokenizer of a GGUF file with this `tokenizer.ggml.pre`.
Result<text::PreTokenizer> gguf_cutter(const char* pre) {
  constexpr uint32_t kF32 = 0, kString = 8, kArray = 9;  // types of the file format
  const std::string strings = raw(kArray) + raw(kString);
  const std::string bytes =
      GgufParts{.num_tensors = 1,
                .num_keys = 5,
                .keys = gguf_text("general.architecture", "llama") + gguf_text("tokenizer.ggml.model", "gpt2") +
                        gguf_text("tokenizer.ggml.pre", pre) + gguf_string("tokenizer.ggml.tokens") + strings +
                        raw(uint64_t{1}) + gguf_string("a") + gguf_string("tokenizer.ggml.merges") + strings +
                        raw(uint64_t{0}),
                .tensors = gguf_tensor("token_embd.weight", {8, 2}, kF32, 0),
                .data_bytes = 64}
          .bytes();
  auto files = io::open_model_files(
      {.directory = "", .files = {{"m.gguf", reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}}});
  if (!files.is_ok()) return files.status;
  const auto text = (*files)->read_text("tokenizer.json", 1 << 20);
  if (!text.is_ok()) return text.status;
  const auto json = io::parse_json(*text);
  if (!json.is_ok()) return json.status;
  return text::PreTokenizer::from_json(*json->find("pre_tokenizer"), "m.gguf");
}

std::string sentencepiece_json(const std::string& family) {
  return read_fixture(fixtures_dir() + "/text/tokenizer/" + family + ".json");
}

}  // namespace

// Ids hide most word boundaries that no merge crosses, so the words have a separate test.
PAGODA_TEST(tokenizer_cuts_reference_words_with_every_pattern) {
  const std::vector<WordCase> cases = read_word_cases();
  REQUIRE(cases.size() > 10'000);
  const size_t num_patterns = static_cast<size_t>(text::WordPattern::east_asian) + 1;
  CHECK_EQ(cases.back().pattern, num_patterns);  // the last are of all stages of deepseek-llm
  const auto deepseek = gguf_cutter("deepseek-llm");
  REQUIRE_OK(deepseek);
  CHECK_EQ(deepseek->stages().size(), size_t{6});
  size_t num_wrong = 0;
  for (const WordCase& one : cases) {
    std::vector<size_t> word_bytes;
    text::WordCutter cutter(*deepseek, one.text);
    for (std::string_view word; one.pattern == num_patterns && cutter.next(word);) word_bytes.push_back(word.size());
    for (size_t at = 0; one.pattern < num_patterns && at < one.text.size(); at += word_bytes.back()) {
      const auto pattern = static_cast<text::WordPattern>(one.pattern);
      word_bytes.push_back(text::find_word_end(pattern, one.text, at) - at);
    }
    if (word_bytes == one.word_bytes) continue;
    if (++num_wrong <= 5) note("pattern " + std::to_string(one.pattern) + ", text '" + one.text + "'");
  }
  CHECK_EQ(num_wrong, size_t{0});
}

PAGODA_TEST(tokenizer_of_a_gguf_file_cuts_as_its_name_says) {
  using text::WordPattern;
  const std::pair<const char*, WordPattern> known[] = {{"kimi-k2", WordPattern::kimi},
                                                       {"glm4", WordPattern::llama3},
                                                       {"chatglm-bpe", WordPattern::llama3},
                                                       {"qwen35", WordPattern::qwen3_5}};
  for (const auto& [pre, pattern] : known) {
    const auto cutter = gguf_cutter(pre);
    REQUIRE_OK(cutter);
    CHECK(cutter->stages() == std::vector{pattern});
  }
  CHECK(gguf_cutter("deepseek-coder").status.message.find("'deepseek-coder' is not known") != std::string::npos);
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

// SentencePiece-style vocabularies: python3 Tools/fixtures/sentencepiece_fixtures.py
PAGODA_TEST(tokenizer_gives_reference_ids_with_sentencepiece_like_llama_2) {
  check_family("sentencepiece_llama", sentencepiece_json("sentencepiece_llama"), 5000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_sentencepiece_like_mistral) {
  check_family("sentencepiece_mistral", sentencepiece_json("sentencepiece_mistral"), 1000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_sentencepiece_like_gemma) {
  check_family("sentencepiece_gemma", sentencepiece_json("sentencepiece_gemma"), 1000);
}

PAGODA_TEST(tokenizer_gives_reference_ids_with_sentencepiece_unigram) {
  check_family("sentencepiece_unigram", sentencepiece_json("sentencepiece_unigram"), 1000);
  check_family("sentencepiece_unknown", sentencepiece_json("sentencepiece_unknown"), 1000);
}

// The result does not depend on the order of keys in the file.
PAGODA_TEST(tokenizer_reads_sentencepiece_files_in_any_order_of_keys) {
  const std::string json = sentencepiece_json("sentencepiece_llama");
  const size_t model = json.find("\"model\":"), version = json.find("\"version\"");
  REQUIRE(model != std::string::npos && version != std::string::npos);
  const size_t end = json.rfind('}');
  const std::string first = "{" + json.substr(model, end - model) + "," + json.substr(version, model - version);
  check_family("sentencepiece_llama", first.substr(0, first.rfind(',')) + "}", 5000);
}

PAGODA_TEST(tokenizer_of_a_gguf_file_gives_reference_ids_with_sentencepiece) {
  for (const char* family : {"sentencepiece_llama", "sentencepiece_gemma"}) {
    const auto gguf = io::Gguf::open(fixture_file(std::string("gguf/") + family + ".gguf"));
    REQUIRE_OK(gguf);
    const auto json = io::gguf_tokenizer_json(*gguf);
    REQUIRE_OK(json);
    check_family(family, *json, 1000);
  }
}

// Control tokens of the model are not text, and a text does not match them.
PAGODA_TEST(tokenizer_keeps_control_tokens_out_of_texts) {
  for (const char* family : {"sentencepiece_llama", "sentencepiece_unigram"}) {
    const auto tokenizer = text::SubwordTokenizer::from_json(sentencepiece_json(family), family);
    REQUIRE_OK(tokenizer);
    CHECK((*tokenizer)->is_verbatim(2) && (*tokenizer)->is_special(2));
    std::vector<int32_t> ids;
    REQUIRE_OK((*tokenizer)->encode(std::string_view("a<|p_eos|>b"), false, ids));
    CHECK(std::find(ids.begin(), ids.end(), 2) == ids.end() && ids.size() > 4);
    ids.clear();
    REQUIRE_OK((*tokenizer)->encode(std::string_view("a<|p_eos|>b"), true, ids));
    CHECK(std::count(ids.begin(), ids.end(), 2) == 1);
    CHECK((*tokenizer)->start_ids() == std::vector<int32_t>{1});
  }
}

// After retraining the embedded model: python3 Tools/fixtures/tokenizer_fixtures.py
PAGODA_TEST(tokenizer_gives_reference_ids_with_the_embedded_model) {
  check_family("mini", read_fixture(mini_model_dir() + "/tokenizer.json"), 500);
}

}  // namespace pagoda::test
