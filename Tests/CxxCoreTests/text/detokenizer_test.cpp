// Detokenizer: always valid UTF-8, the same text however it arrives, and U+FFFD exactly where Python puts it.
#include <string>
#include <vector>

#include "support/test.h"
#include "support/tokenizer_fixtures.h"
#include "text/bpe/tokenizer.h"
#include "text/detokenizer.h"
#include "text/unicode/unicode.h"

namespace pagoda::test {

namespace {

const std::string kSpecial =
    R"({"id": 300, "content": "<|end|>", "special": true}, {"id": 301, "content": "<think>", "special": false})";

std::shared_ptr<const text::SubwordTokenizer> byte_tokenizer() {
  auto tokenizer = text::SubwordTokenizer::from_json(make_byte_tokenizer_json(kSpecial), "bytes");
  return tokenizer.is_ok() ? *tokenizer : nullptr;
}

bool is_valid(const std::string& text) { return text::find_invalid_utf8(text) == std::string::npos; }

}  // namespace

PAGODA_TEST(detokenizer_replaces_broken_utf8_as_python_does) {
  const auto tokenizer = byte_tokenizer();
  REQUIRE(tokenizer != nullptr);
  const std::string data = read_fixture(fixtures_dir() + "/text/tokenizer/broken_utf8.bin");
  REQUIRE(!data.empty());
  size_t at = 0, num_cases = 0;
  while (at < data.size()) {
    const size_t num_bytes = static_cast<unsigned char>(data[at]);  // varints below 128
    const std::string bytes = data.substr(at + 1, num_bytes);
    at += 1 + num_bytes;
    const size_t text_bytes = static_cast<unsigned char>(data[at]);
    const std::string expected = data.substr(at + 1, text_bytes);
    at += 1 + text_bytes;
    std::vector<int32_t> ids;
    for (const char byte : bytes) ids.push_back(static_cast<unsigned char>(byte));
    CHECK_EQ(decode_all(*tokenizer, ids, false), expected);
    ++num_cases;
  }
  CHECK_EQ(num_cases, size_t{1500});
}

PAGODA_TEST(detokenizer_gives_out_whole_characters_at_every_step) {
  const auto tokenizer = byte_tokenizer();
  REQUIRE(tokenizer != nullptr);
  const std::string text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x91\x8D\xFF\xE4\xB8z";
  text::Detokenizer detokenizer(tokenizer.get(), false);
  std::string out;
  std::vector<size_t> sizes;
  for (const char byte : text) {
    detokenizer.push(static_cast<unsigned char>(byte), out);
    CHECK(is_valid(out));
    sizes.push_back(out.size());
  }
  detokenizer.finish(out);
  const std::vector<size_t> expected = {1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 13, 13, 13, 17};
  CHECK(sizes == expected);
  CHECK_EQ(out, "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x91\x8D\xEF\xBF\xBD\xEF\xBF\xBDz");
}

PAGODA_TEST(detokenizer_ends_with_one_replacement_for_an_unfinished_character) {
  const auto tokenizer = byte_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK_EQ(decode_all(*tokenizer, {'a', 0xF0, 0x9F, 0x91}, false), "a\xEF\xBF\xBD");
  text::Detokenizer detokenizer(tokenizer.get(), false);
  std::string out;
  detokenizer.push(0xF0, out);
  detokenizer.finish(out);
  detokenizer.finish(out);
  CHECK_EQ(out, "\xEF\xBF\xBD");
}

PAGODA_TEST(detokenizer_skips_special_tokens_only_when_asked) {
  const auto tokenizer = byte_tokenizer();
  REQUIRE(tokenizer != nullptr);
  const std::vector<int32_t> ids = {'a', 301, 300, 'b'};
  CHECK_EQ(decode_all(*tokenizer, ids, /*skip_special=*/true), "a<think>b");
  CHECK_EQ(decode_all(*tokenizer, ids, /*skip_special=*/false), "a<think><|end|>b");
  // A character continues after a token that was left out.
  CHECK_EQ(decode_all(*tokenizer, {0xC3, 300, 0xA9}, /*skip_special=*/true), "\xC3\xA9");
}

PAGODA_TEST(detokenizer_ignores_ids_that_do_not_exist) {
  const auto tokenizer = byte_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK_EQ(decode_all(*tokenizer, {'a', -1, 299, 302, INT32_MAX, INT32_MIN, 'b'}, false), "ab");
}

}  // namespace pagoda::test
