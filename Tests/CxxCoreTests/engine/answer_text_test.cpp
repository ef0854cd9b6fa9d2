// AnswerText: stop strings end the answer and nothing before it.
#include "engine/answer_text.h"

#include <string>
#include <string_view>

#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::engine {
namespace {

// Pushes the characters one by one; returns how many were taken before a stop string ended the text.
size_t push_all(AnswerText& text, std::string_view characters, bool is_thought, std::string& out) {
  for (size_t i = 0; i < characters.size(); ++i)
    if (text.push(characters[i], is_thought, /*armed=*/true, out)) return i + 1;
  return characters.size();
}

PAGODA_TEST(answer_text_ends_at_a_stop_string_and_releases_the_rest_otherwise) {
  const auto tokenizer = test::make_awkward_tokenizer();
  AnswerText stopped({"END"}), open({"END"});
  stopped.open(tokenizer.get());
  open.open(tokenizer.get());
  std::string out;
  CHECK_EQ(push_all(stopped, "one END two", false, out), 7u);
  stopped.finish(out);
  CHECK_EQ(out, "one ");
  CHECK_EQ(stopped.matched(), "END");
  out.clear();
  CHECK_EQ(push_all(open, "one EN", false, out), 6u);
  CHECK_EQ(out, "one ");  // the rest may be the start of a stop string
  open.finish(out);
  CHECK_EQ(out, "one EN");
}

PAGODA_TEST(answer_text_is_not_ended_by_its_thinking_or_the_white_space_after_it) {
  const auto tokenizer = test::make_awkward_tokenizer();
  AnswerText chat({"\n", "END"}), plain({"\n", "END"});
  chat.open(tokenizer.get());
  plain.open(tokenizer.get());
  plain.split_thinking(false);
  std::string out;
  CHECK_EQ(push_all(chat, "an END\n", true, out), 7u);
  CHECK_EQ(push_all(chat, "\n\nyes\nno", false, out), 6u);
  CHECK_EQ(out, "an END\n\n\nyes");
  out.clear();
  CHECK_EQ(push_all(plain, "an END", true, out), 6u);
  CHECK_EQ(push_all(plain, "\nyes", false, out), 1u);
}

PAGODA_TEST(answer_text_without_a_tokenizer_is_empty) {
  AnswerText text({"a"});
  std::string out;
  CHECK_EQ(push_all(text, "aaa", false, out), 3u);
  text.finish(out);
  CHECK_EQ(out, "");
}

}  // namespace
}  // namespace pagoda::engine
