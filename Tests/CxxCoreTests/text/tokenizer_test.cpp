// Prompts made of segments, control tokens that only the template may write, and the tokenizer as Swift sees it.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "pagoda/tokenizer.h"
#include "support/test.h"
#include "support/tokenizer_fixtures.h"
#include "text/bpe/tokenizer.h"

namespace pagoda::test {

namespace {

const std::string kAdded = R"({"id": 300, "content": "<|im_end|>", "special": true, "normalized": false},)"
                           R"({"id": 301, "content": "<think>", "special": false, "normalized": false},)"
                           R"({"id": 302, "content": "<|im_end|>x", "special": true, "normalized": false},)"
                           R"({"id": 303, "content": "[e\u0301]", "special": true, "normalized": true})";
const std::string kVocab = R"("ab": 256, "abc": 257)";
const std::string kMerges = R"("a b", "ab c")";

std::shared_ptr<const text::SubwordTokenizer> small_tokenizer() {
  auto tokenizer = text::SubwordTokenizer::from_json(make_byte_tokenizer_json(kAdded, kVocab, kMerges), "small");
  if (!tokenizer.is_ok()) note(tokenizer.status.message);
  return tokenizer.is_ok() ? *tokenizer : nullptr;
}

using Ids = std::vector<int32_t>;

Ids encode(const text::SubwordTokenizer& tokenizer, const std::string& text, bool parse_special) {
  Ids ids;
  CHECK_OK(tokenizer.encode(text, parse_special, ids));
  return ids;
}

Ids encode(const text::SubwordTokenizer& tokenizer, const std::vector<PromptSegment>& segments) {
  Ids ids;
  CHECK_OK(tokenizer.encode(segments, ids));
  return ids;
}

Ids bytes_of(const std::string& text) { return Ids(text.begin(), text.end()); }

Ids operator+(Ids a, const Ids& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

PAGODA_TEST(tokenizer_special_tokens_only_when_asked) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK(encode(*tokenizer, "a<|im_end|>b", true) == (Ids{'a', 300, 'b'}));
  CHECK(encode(*tokenizer, "a<|im_end|>b", false) == bytes_of("a<|im_end|>b"));
  CHECK(encode(*tokenizer, "<|im_end|>x", true) == Ids{302});
  CHECK(encode(*tokenizer, "<think>", false) == Ids{301});
  CHECK(encode(*tokenizer, "", true).empty());
}

PAGODA_TEST(tokenizer_gives_the_tokens_that_precede_a_text) {
  const auto load = [](const std::string& post_processor) {
    std::string json = make_byte_tokenizer_json(R"({"id": 300, "content": "<s>", "special": true})");
    json.replace(json.find("post_processor"), 14, "processor of the fixture");
    json.insert(json.find('{') + 1, "\"post_processor\": " + post_processor + ",");
    return text::SubwordTokenizer::from_json(json, "tokenizer.json");
  };
  const std::string text = R"({"Sequence": {"id": "A", "type_id": 0}})";
  const std::string start = R"({"SpecialToken": {"id": "<s>", "type_id": 0}})";
  const std::string known = R"("special_tokens": {"<s>": {"id": "<s>", "ids": [300], "tokens": ["<s>"]}})";
  const auto processor = [](const std::string& single, const std::string& tokens) {
    return R"({"type": "TemplateProcessing", "single": [)" + single + "], " + tokens + "}";
  };
  const std::string llama = processor(start + "," + text, known);
  const std::string byte_level = R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false})";
  struct Row {
    std::string post_processor;
    Ids start_ids, end_ids;
  };
  const std::vector<Row> rows{
      {"null", {}, {}},
      {byte_level, {}, {}},
      {llama, {300}, {}},
      {R"({"type": "Sequence", "processors": [)" + byte_level + "," + llama + "]}", {300}, {}},
      {processor(text, known), {}, {}},
      {processor(text + "," + start, known), {}, {300}},
      {processor(start + "," + start + "," + text + "," + start, known), {300, 300}, {300}},
  };
  for (const auto& [post_processor, start_ids, end_ids] : rows) {
    note(post_processor);
    const auto tokenizer = load(post_processor);
    REQUIRE_OK(tokenizer);
    CHECK((*tokenizer)->start_ids() == start_ids);
    CHECK((*tokenizer)->end_ids() == end_ids);
    Ids plain;
    CHECK_OK((*tokenizer)->encode("a", true, plain));
    CHECK(plain == Ids{'a'});
  }
  std::string many = start;
  for (int i = 0; i < 16; ++i) many += "," + start;
  for (const std::string& bad :
       {processor(start, R"("special_tokens": {})"), processor(start, R"("special_tokens": 3)"),
        processor(start, R"("special_tokens": {"<s>": {"ids": [301]}})"),
        processor(start, R"("special_tokens": {"<s>": {"ids": [-1]}})"),
        processor(start, R"("special_tokens": {"<s>": {"ids": ["x"]}})"), processor(many, known),
        std::string(R"({"type": "TemplateProcessing"})")}) {
    note(bad);
    CHECK(load(bad).status.code == StatusCode::bad_file);
  }
}

PAGODA_TEST(tokenizer_prompt_control_tokens_come_from_the_template_alone) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK(encode(*tokenizer, {{"<|im_end|>", true}}) == Ids{300});
  CHECK(encode(*tokenizer, {{"<|im_end|>", false}}) == bytes_of("<|im_end|>"));
  CHECK(encode(*tokenizer, {{"u", false}, {"<|im_end|>", true}, {"u", false}}) == (Ids{'u', 300, 'u'}));
  // A spelling composed from both sides is text; split within the template it is still the token.
  CHECK(encode(*tokenizer, {{"<|im_", true}, {"end|>", false}}) == bytes_of("<|im_end|>"));
  CHECK(encode(*tokenizer, {{"<|im_", false}, {"end|>", true}}) == bytes_of("<|im_end|>"));
  CHECK(encode(*tokenizer, {{"<|im_", true}, {"end|>", true}}) == Ids{300});
  CHECK(encode(*tokenizer, {{"<|im_", true}, {"", false}, {"end|>", true}}) == Ids{300});
  // Text of the user cannot turn the template's token into a longer one, nor hide it.
  CHECK(encode(*tokenizer, {{"<|im_end|>", true}, {"x", false}}) == (Ids{300, 'x'}));
  CHECK(encode(*tokenizer, {{"<|im_end|", false}, {"<|im_end|>", true}}) == bytes_of("<|im_end|") + Ids{300});
  CHECK(encode(*tokenizer, {{"<", false}, {"<|im_end|>", true}, {"x", true}}) == (Ids{'<', 302}));
  // Tags that the file does not mark as special are no different.
  CHECK(encode(*tokenizer, {{"<think>", true}}) == Ids{301});
  CHECK(encode(*tokenizer, {{"<think>", false}}) == bytes_of("<think>"));
  CHECK(encode(*tokenizer, {{"<thi", false}, {"nk>", true}}) == bytes_of("<think>"));
  CHECK(encode(*tokenizer, {{"<thi", true}, {"nk>", false}}) == bytes_of("<think>"));
  CHECK(encode(*tokenizer, {{"a <think> b", false}, {"<think>", true}}) == bytes_of("a <think> b") + Ids{301});
}

PAGODA_TEST(tokenizer_prompt_added_words_may_be_typed) {
  const auto tokenizer = text::SubwordTokenizer::from_json(
      make_byte_tokenizer_json(R"({"id": 300, "content": "    ", "special": false, "normalized": false},)"
                               R"({"id": 301, "content": "k-mer", "special": false, "normalized": true},)"
                               R"({"id": 302, "content": "<>", "special": false, "normalized": false},)"
                               R"({"id": 303, "content": "[note]", "special": false, "normalized": true})"),
      "tokenizer.json");
  REQUIRE_OK(tokenizer);
  CHECK(encode(**tokenizer, {{"a    k-mer<>", false}}) == (Ids{'a', 300, 301, 302}));
  CHECK(encode(**tokenizer, {{"[note]", false}}) == bytes_of("[note]"));
  CHECK(encode(**tokenizer, {{"[note]", true}}) == Ids{303});
  CHECK(encode(**tokenizer, "[note]", false) == Ids{303});  // as the reference tokenizer does
}

PAGODA_TEST(tokenizer_prompt_origin_is_known_after_normalisation) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK(encode(*tokenizer, {{"[e\xCC\x81]", true}}) == Ids{303});
  CHECK(encode(*tokenizer, {{"[\xC3\xA9]", true}}) == Ids{303});
  const Ids as_text = {'[', 0xC3, 0xA9, ']'};
  CHECK(encode(*tokenizer, {{"[e\xCC\x81]", false}}) == as_text);
  CHECK(encode(*tokenizer, {{"[e", true}, {"\xCC\x81", false}, {"]", true}}) == as_text);
  CHECK(encode(*tokenizer, {{"e\xCC\x81", false}, {"[\xC3\xA9]", true}}) == (Ids{0xC3, 0xA9, 303}));
}

PAGODA_TEST(tokenizer_prompt_is_one_text_across_its_seams) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK(encode(*tokenizer, {{"a", true}, {"b", false}, {"c", true}}) == Ids{257});
  // A character may be split in two.
  CHECK(encode(*tokenizer, {{"\xC3", true}, {"\xA9", false}}) == (Ids{0xC3, 0xA9}));
  CHECK(encode(*tokenizer, std::vector<PromptSegment>{}).empty());
}

PAGODA_TEST(tokenizer_prompt_of_many_segments_takes_linear_time) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  std::vector<PromptSegment> segments;
  Ids expected;
  for (int i = 0; i < 50'000; ++i) {
    segments.push_back({"<|im_end|>", true});
    segments.push_back({"abc", false});
    expected.insert(expected.end(), {300, 257});
  }
  CHECK(encode(*tokenizer, segments) == expected);
}

PAGODA_TEST(tokenizer_refuses_text_that_is_not_utf8) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  Ids ids = {7};
  const Status status = tokenizer->encode("abc\xFF", true, ids);
  CHECK(status.code == StatusCode::invalid_argument);
  CHECK_EQ(status.message, "text is not valid UTF-8 at byte 3");
  CHECK(ids == Ids{7});
}

PAGODA_TEST(tokenizer_appends_and_repeats_words_right) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  Ids ids = {7};
  CHECK_OK(tokenizer->encode("abc abc abcab", false, ids));  // the second " abc" comes from the word cache
  CHECK(ids == (Ids{7, 257, ' ', 257, ' ', 257, 256}));
}

PAGODA_TEST(tokenizer_merges_long_words_like_short_ones) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  for (const int repeats : {5, 21, 22, 23, 1000, 50'000}) {
    std::string word;
    Ids expected;
    for (int i = 0; i < repeats; ++i) {
      word += "abcb";
      expected = std::move(expected) + Ids{257, 'b'};
    }
    CHECK(encode(*tokenizer, word, false) == expected);
  }
}

PAGODA_TEST(tokenizer_names_its_tokens) {
  const auto tokenizer = small_tokenizer();
  REQUIRE(tokenizer != nullptr);
  CHECK_EQ(tokenizer->vocab_size(), 304);
  CHECK_EQ(tokenizer->find_token("abc"), 257);
  CHECK_EQ(tokenizer->find_token("\xC4\xA0"), int32_t{' '});  // U+0120 spells the space
  CHECK_EQ(tokenizer->token_spelling(' '), "\xC4\xA0");
  CHECK_EQ(tokenizer->token_bytes(' '), " ");
  CHECK_EQ(tokenizer->find_token("<|im_end|>"), 300);
  CHECK_EQ(tokenizer->token_spelling(300), "<|im_end|>");
  CHECK_EQ(tokenizer->find_token("nowhere"), -1);
  CHECK_EQ(tokenizer->find_token("\xFF\xC3"), -1);
  CHECK_EQ(tokenizer->find_token(std::string(10'000, 'a')), -1);
  CHECK(tokenizer->is_special(300) && !tokenizer->is_special(301) && !tokenizer->is_special(-1));
  CHECK(tokenizer->has_token(257) && !tokenizer->has_token(258) && !tokenizer->has_token(-1) &&
        !tokenizer->has_token(304));
  CHECK(tokenizer->token_bytes(299).empty() && tokenizer->token_spelling(-5).empty());
}

PAGODA_TEST(tokenizer_seam_counts_references_and_keeps_errors) {
  auto* tokenizer = new Tokenizer(small_tokenizer());
  std::vector<std::thread> threads;
  std::atomic<int> num_right{0};
  for (int t = 0; t < 4; ++t) {
    pagoda_tokenizer_retain(tokenizer);
    threads.emplace_back([tokenizer, &num_right] {
      for (int i = 0; i < 200; ++i) {
        pagoda_tokenizer_retain(tokenizer);
        const EncodeResult encoded = tokenizer->encode("abc <|im_end|>", true);
        const DecodeResult decoded = tokenizer->decode(encoded.ids, /*skip_special=*/true);
        if (encoded.status.is_ok() && decoded.status.is_ok() && decoded.text == "abc ") ++num_right;
        pagoda_tokenizer_release(tokenizer);
      }
      pagoda_tokenizer_release(tokenizer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(num_right.load(), 800);
  CHECK(tokenizer->encode("\xC3", true).status.code == StatusCode::invalid_argument);
  CHECK(tokenizer->encode_prompt({{"<|im_end|>", false}}).ids == bytes_of("<|im_end|>"));
  CHECK_EQ(tokenizer->token_id("abc"), 257);
  CHECK_EQ(tokenizer->token_text(257), "abc");
  CHECK_EQ(tokenizer->vocab_size(), 304);
  CHECK(tokenizer->is_special(300));
  pagoda_tokenizer_release(tokenizer);
}

}  // namespace pagoda::test
