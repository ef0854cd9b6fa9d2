// States of the pattern become states of the grammar; choices become a tree.
#include "grammar/text_grammar.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "grammar/characters.h"
#include "grammar/grammar_builder.h"
#include "grammar/pattern/pattern.h"
#include "text/unicode/unicode.h"

namespace pagoda::grammar {

Result<Grammar> compile_regex(std::string_view expression, CompileBudget& budget) {
  if (text::find_invalid_utf8(expression) != std::string_view::npos)
    return make_error(StatusCode::invalid_argument, "the regular expression is not valid UTF-8");
  const Result<Pattern> pattern = compile_pattern(expression, budget, /*is_whole=*/true);
  if (!pattern.is_ok())
    return make_error(StatusCode::invalid_argument, "the regular expression " + pattern.status.message);
  GrammarBuilder builder(budget);
  const Rule rule = builder.add_rule();
  std::vector<int32_t> states{rule.start};
  while (states.size() < pattern->states.size()) states.push_back(builder.add_state());
  std::map<std::pair<char32_t, char32_t>, Rule> wide;  // ranges beyond ASCII need many states: one rule each
  for (size_t i = 0; i < states.size() && builder.is_ok(); ++i) {
    const Pattern::State& part = pattern->states[i];
    if (part.accepts) builder.add_jump(states[i], rule.end);
    for (const CharacterEdge& edge : part.edges) {
      const int32_t to = states[edge.target];
      if (edge.last < 0x80) {
        add_text_characters(builder, states[i], edge.first, edge.last, to);
        continue;
      }
      const auto [found, is_new] = wide.try_emplace({edge.first, edge.last});
      if (is_new) {
        found->second = builder.add_rule();
        add_text_characters(builder, found->second.start, edge.first, edge.last, found->second.end);
      }
      builder.add_call(states[i], found->second, to);
    }
  }
  return builder.build(rule);
}

Result<Grammar> compile_choice(const io::Json& choices, CompileBudget& budget) {
  const auto refuse = [](const std::string& reason) { return make_error(StatusCode::invalid_argument, reason); };
  if (!choices.is_array() || choices.items().empty()) return refuse("the choices must be an array of strings");
  if (choices.items().size() > kMaxChoices)
    return refuse(concat("there are ", choices.items().size(), " choices; at most ", kMaxChoices, " are allowed"));
  GrammarBuilder builder(budget);
  const Rule rule = builder.add_rule();
  std::vector<std::string> texts;
  for (size_t i = 0; i < choices.items().size(); ++i) {
    const io::Json& choice = choices.items()[i];
    if (!choice.is_string() || choice.as_string().empty())
      return refuse(concat("choice ", i, " must be a string that is not empty"));
    if (text::find_invalid_utf8(choice.as_string()) != std::string_view::npos)
      return refuse(concat("choice ", i, " is not valid UTF-8"));
    texts.push_back(choice.as_string());
  }
  builder.add_words(rule.start, texts, rule.end);
  return builder.build(rule);
}

}  // namespace pagoda::grammar
