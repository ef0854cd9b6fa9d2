// Every broken tokenizer.json is a row: a typed error that names the file, the key and the reason; never a crash.
#include <string>
#include <vector>

#include "support/test.h"
#include "support/tokenizer_fixtures.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::test {

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  if (at == std::string::npos) return "'" + what + "' is not in the text";
  return text.replace(at, what.size(), with);
}

struct BadFile {
  const char* name;
  std::string json;
  StatusCode code;
  std::string reason;  // part of the message
};

std::string added(const std::string& fields) { return make_byte_tokenizer_json("{" + fields + "}"); }

std::vector<BadFile> bad_files() {
  const std::string good = make_byte_tokenizer_json("", R"("ab": 256)", R"("a b")");
  const StatusCode bad = StatusCode::bad_file, unsupported = StatusCode::unsupported;
  const std::string pattern = good.substr(good.find("(?i:"), 40);
  return {
      {"empty", "", bad, "top level"},
      {"array", "[]", bad, "top level"},
      {"no members", "{}", bad, "model is missing"},
      {"only a model", R"({"model": {"vocab": {}, "merges": []}})", bad, "pre_tokenizer is missing"},
      {"not JSON", "{\"model\": nope}", bad, "model is missing or not an object"},
      {"trailing bytes", good + "x", bad, "after the end"},
      {"invalid UTF-8", replaced(good, "\"ab\"", "\"a\xFF\""), bad, "UTF-8"},
      {"lone surrogate", replaced(good, "\"ab\"", R"("\ud800")"), bad, "surrogate"},
      {"model twice", replaced(good, "\"version\"", R"("model": {"vocab": {}, "merges": []}, "version")"), bad,
       "twice"},
      {"model not an object", R"({"model": 3})", bad, "model is missing or not an object"},
      {"no vocab", R"({"model": {"merges": []}})", bad, "model.vocab is missing"},
      {"no merges", R"({"model": {"vocab": {}}})", bad, "model.merges is missing"},
      {"vocab not an object", R"({"model": {"vocab": [], "merges": []}})", bad, "model.vocab"},
      {"merges not an array", replaced(good, "[\"a b\"]", "{}"), bad, "model.merges is not an array"},
      {"vocab key twice", make_byte_tokenizer_json("", R"("ab": 256, "ab": 257)"), bad, "'ab' occurs twice"},
      {"id twice", make_byte_tokenizer_json("", R"("ab": 255)"), bad, "same id 255"},
      {"id 2^31", make_byte_tokenizer_json("", R"("ab": 2147483648)"), bad, "2147483648"},
      {"id 2^63", make_byte_tokenizer_json("", R"("ab": 9223372036854775808)"), bad, "not an integer"},
      {"id just too high", make_byte_tokenizer_json("", R"("ab": 2097152)"), bad, "2097152"},
      {"negative id", make_byte_tokenizer_json("", R"("ab": -1)"), bad, "id -1"},
      {"fraction id", make_byte_tokenizer_json("", R"("ab": 256.5)"), bad, "not an integer"},
      {"string id", make_byte_tokenizer_json("", R"("ab": "256")"), bad, "byte"},
      {"token of 1 MB", make_byte_tokenizer_json("", "\"" + std::string(1 << 20, 'a') + "\": 256"), bad, "bytes long"},
      {"left out of vocab", make_byte_tokenizer_json("", "", R"("xyz a")"), bad, "merges[0]: 'xyz'"},
      {"right out of vocab", make_byte_tokenizer_json("", "", R"(["a", "xyz"])"), bad, "merges[0]: 'xyz'"},
      {"result out of vocab", make_byte_tokenizer_json("", "", R"("a b")"), bad, "merges[0]: 'ab'"},
      {"merge of one part", make_byte_tokenizer_json("", "", R"("ab")"), bad, "two parts"},
      {"merge of three parts", make_byte_tokenizer_json("", "", R"("a b c")"), bad, "two parts"},
      {"merge of three items", make_byte_tokenizer_json("", "", R"(["a", "b", "c"])"), bad, "more than two parts"},
      {"merge is a number", make_byte_tokenizer_json("", "", "5"), bad, "byte"},
      {"WordPiece", replaced(good, "\"BPE\"", "\"WordPiece\""), unsupported, "model.type is 'WordPiece'"},
      {"byte_fallback", replaced(good, "\"byte_fallback\": false", "\"byte_fallback\": true"), unsupported,
       "byte_fallback"},
      {"dropout", replaced(good, "\"dropout\": null", "\"dropout\": 0.1"), unsupported, "dropout"},
      {"prefix", replaced(good, "\"continuing_subword_prefix\": \"\"", "\"continuing_subword_prefix\": \"##\""),
       unsupported, "prefix"},
      {"suffix", replaced(good, "\"end_of_word_suffix\": \"\"", "\"end_of_word_suffix\": \"</w>\""), unsupported,
       "suffix"},
      {"unknown token missing", replaced(good, "\"unk_token\": null", "\"unk_token\": \"<unk>\""), bad, "'<unk>'"},
      {"normalizer", replaced(good, "\"NFC\"", "\"Lowercase\""), unsupported, "'Lowercase'"},
      {"other pattern", replaced(good, "(?i:", "(?x:"), unsupported, "none of the known"},
      {"pattern of 5 MB", replaced(good, "(?i:", std::string(5 << 20, '(')), unsupported, "'((((("},
      {"value of 20 MB", replaced(good, "(?i:", std::string(20 << 20, '(')), unsupported, "'pre_tokenizer' is"},
      {"no byte level", replaced(good, "\"ByteLevel\"", "\"Whitespace\""), unsupported, "'Whitespace'"},
      {"prefix space", replaced(good, "\"add_prefix_space\": false", "\"add_prefix_space\": true"), unsupported,
       "add_prefix_space"},
      {"split removes", replaced(good, "\"Isolated\"", "\"Removed\""), unsupported, "'Removed'"},
      {"deep nesting", replaced(good, "\"version\": \"1.0\"", "\"version\": " + std::string(100'000, '[')), bad,
       "byte"},
      {"added not an array", replaced(good, "\"added_tokens\": []", "\"added_tokens\": {}"), bad,
       "added_tokens is not"},
      {"added without id", added(R"("content": "<x>")"), bad, "added_tokens[0].id"},
      {"added without content", added(R"("id": 256)"), bad, "added_tokens[0].content"},
      {"added empty", added(R"("id": 256, "content": "")"), bad, "content is empty"},
      {"added negative", added(R"("id": -7, "content": "<x>")"), bad, "id -7"},
      {"added too high", added(R"("id": 2147483648, "content": "<x>")"), bad, "2147483648"},
      {"added takes an id", added(R"("id": 65, "content": "<x>")"), bad, "same id 65"},
      {"added has two ids", added(R"("id": 300, "content": "A")"), bad, "ids 65 and 300"},
  };
}

}  // namespace

PAGODA_TEST(tokenizer_file_errors_name_file_key_and_reason) {
  for (const BadFile& file : bad_files()) {
    const auto tokenizer = text::SubwordTokenizer::from_json(file.json, "some/tokenizer.json");
    note(std::string(file.name) + ": " + tokenizer.status.message);
    CHECK(!tokenizer.is_ok());
    CHECK(tokenizer.status.code == file.code);
    CHECK(tokenizer.status.message.starts_with("some/tokenizer.json: "));
    CHECK(tokenizer.status.message.find(file.reason) != std::string::npos);
    CHECK(tokenizer.status.message.size() < 400);
  }
}

PAGODA_TEST(tokenizer_file_cut_at_every_byte_is_an_error) {
  const std::string good = make_byte_tokenizer_json(R"({"id": 300, "content": "<x>"})", R"("ab": 256)", R"("a b")");
  REQUIRE_OK(text::SubwordTokenizer::from_json(good, "whole"));
  const size_t last = good.rfind('}');
  for (size_t size = 0; size <= last; ++size) {
    CHECK(!text::SubwordTokenizer::from_json(std::string_view(good).substr(0, size), "cut").is_ok());
  }
}

PAGODA_TEST(tokenizer_file_made_to_collide_is_refused_quickly) {
  // Inverts the vocabulary's hash of 8-byte tokens: thousands of tokens in one slot would take minutes to load.
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t inverse = kMultiplier;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMultiplier * inverse;
  std::string vocab;
  for (uint64_t i = 0; i < 3000; ++i) {
    uint64_t word = (i * inverse) ^ (16 * kMultiplier);
    std::string bytes;
    for (; bytes.size() < 8; word >>= 8) bytes += static_cast<char>(word);
    vocab += (i == 0 ? "\"" : ", \"") + spell_bytes(bytes) + "\": " + std::to_string(256 + i);
  }
  const auto tokenizer = text::SubwordTokenizer::from_json(make_byte_tokenizer_json("", vocab), "collisions");
  CHECK(tokenizer.status.code == StatusCode::bad_file);
  CHECK(tokenizer.status.message.find("hash") != std::string::npos);
}

PAGODA_TEST(tokenizer_file_odd_but_right_ones_load) {
  // Holes between ids; a byte token's spelling as an ordinary word; a token no byte spells; merges before the
  // vocabulary.
  const std::string holes = make_byte_tokenizer_json("", R"("<0x-1>": 5000, "\u2581a": 7000, "ab": 9000)", R"("a b")");
  const auto tokenizer = text::SubwordTokenizer::from_json(holes, "holes");
  REQUIRE_OK(tokenizer);
  CHECK_EQ((*tokenizer)->vocab_size(), 9001);
  CHECK_EQ((*tokenizer)->find_token("<0x-1>"), 5000);
  CHECK_EQ((*tokenizer)->token_bytes(7000),
           "\xE2\x96\x81"
           "a");
  CHECK_EQ((*tokenizer)
               ->find_token("\xE2\x96\x81"
                            "a"),
           7000);
  std::vector<int32_t> ids;
  CHECK_OK((*tokenizer)->encode("ab", true, ids));
  CHECK(ids == std::vector<int32_t>{9000});

  const std::string swapped = R"({"model": {"merges": [["a", "b"]], "vocab": {"a": 0, "b": 1, "ab": 2}},)"
                              R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}})";
  const auto other = text::SubwordTokenizer::from_json(swapped, "swapped");
  REQUIRE_OK(other);
  ids.clear();
  CHECK_OK((*other)->encode("abxba", true, ids));  // a byte without a token is dropped, as in the reference
  CHECK(ids == (std::vector<int32_t>{2, 1, 0}));
}

PAGODA_TEST(tokenizer_file_unknown_bytes_become_the_unknown_token) {
  const auto make = [](const char* fuse) {
    return text::SubwordTokenizer::from_json(
        std::string(R"({"model": {"unk_token": "?", "fuse_unk": )") + fuse +
            R"(, "vocab": {"a": 0, "?": 1}, "merges": []},)"
            R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}})",
        "unknown");
  };
  std::vector<int32_t> ids;
  const auto apart = make("false");
  REQUIRE_OK(apart);
  CHECK_OK((*apart)->encode("abca", true, ids));
  CHECK(ids == (std::vector<int32_t>{0, 1, 1, 0}));
  ids.clear();
  const auto fused = make("true");
  REQUIRE_OK(fused);
  CHECK_OK((*fused)->encode("abca", true, ids));
  CHECK(ids == (std::vector<int32_t>{0, 1, 0}));
}

}  // namespace pagoda::test
