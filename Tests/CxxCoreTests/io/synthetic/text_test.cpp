// io/synthetic/text: vocabularies of the right size whose words survive a round trip through text, and a template for
// chats.
#include "io/synthetic/text.h"

#include <random>
#include <string>
#include <vector>

#include "support/test.h"
#include "text/bpe/tokenizer.h"
#include "text/jinja/jinja.h"

namespace pagoda::io {

PAGODA_TEST(synthetic_vocabulary_has_its_size_and_words_keep_their_tokens) {
  std::mt19937_64 random(test::seed(11));
  for (const int32_t size : {300, 512, 32'064, 248'320}) {
    test::note("size " + std::to_string(size));
    const auto tokenizer = text::SubwordTokenizer::from_json(shape_tokenizer_json(size), "shape/tokenizer.json");
    REQUIRE_OK(tokenizer);
    const text::SubwordTokenizer& t = **tokenizer;
    CHECK_EQ(t.vocab_size(), size);
    std::vector<int32_t> words;
    for (int32_t id = 0; id < size; ++id) {
      const std::string_view bytes = t.token_bytes(id);
      CHECK(!bytes.empty());
      if (bytes.size() > 1 && bytes[0] == ' ') words.push_back(id);
    }
    // Almost every token that a model with random weights samples is a word.
    CHECK(size < 100'000 || words.size() * 100 > static_cast<size_t>(size) * 99);
    for (int round = 0; round < 20; ++round) {
      std::vector<int32_t> ids, again;
      std::string text;
      for (int i = 0; i < 100; ++i) {
        ids.push_back(words[random() % words.size()]);
        text += t.token_bytes(ids.back());
      }
      REQUIRE_OK(t.encode(text, false, again));
      CHECK(ids == again);
    }
  }
}

PAGODA_TEST(synthetic_vocabulary_encodes_any_text) {
  const auto tokenizer = text::SubwordTokenizer::from_json(shape_tokenizer_json(248'320), "shape/tokenizer.json");
  REQUIRE_OK(tokenizer);
  const std::string text = "Où est {\"name\": \"Zürich\"}?\n\tlower case 123 \xF0\x9F\x90\x98";
  std::vector<int32_t> ids;
  REQUIRE_OK((*tokenizer)->encode(text, false, ids));
  std::string again;
  for (int32_t id : ids) again += (*tokenizer)->token_bytes(id);
  CHECK_EQ(again, text);
  const std::string words = "tell me what is the weather there";
  ids.clear();
  REQUIRE_OK((*tokenizer)->encode(words, false, ids));
  CHECK(ids.size() * 2 < words.size());  // words and pairs of letters are tokens
}

PAGODA_TEST(synthetic_template_renders_chats_with_tools) {
  const auto parsed = text::JinjaTemplate::parse(shape_chat_template(), "shape/chat_template.jinja", {});
  REQUIRE_OK(parsed);
  const auto variables = io::parse_json(
      R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
          {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]},
          {"role": "tool", "content": "2"}], "tools": [{"type": "function"}], "add_generation_prompt": true})");
  REQUIRE_OK(variables);
  const auto segments = (*parsed)->render(*variables);
  REQUIRE_OK(segments);
  std::string text;
  for (const PromptSegment& segment : *segments) text += segment.text;
  CHECK_EQ(
      text,
      "<|im_start|>system\nBe brief.\n<tools>\n{\"type\": \"function\"}\n</tools>\n<tool_call>\n"
      "{\"name\": NAME, \"arguments\": ARGUMENTS}\n</tool_call><|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
      "<|im_start|>assistant\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call><|im_end|>\n"
      "<|im_start|>tool\n2<|im_end|>\n<|im_start|>assistant\n");
}

}  // namespace pagoda::io
