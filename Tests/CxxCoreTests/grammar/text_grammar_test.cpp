// Regular expressions, choices and GBNF as grammars of whole answers.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "grammar/compile.h"
#include "grammar/grammar_cache.h"
#include "grammar/mask/token_grammar.h"
#include "grammar/pattern/pattern.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::test {
namespace {

struct Row {
  GrammarKind kind;
  const char* text;
  std::vector<std::string> good, bad;
};

// Whether the bytes are a document, fed one by one.
bool accepts(const std::shared_ptr<grammar::TokenGrammar>& grammar, const std::string& document) {
  grammar::Matcher matcher(grammar);
  for (const char byte : document) {
    if (!matcher.accept(std::string_view(&byte, 1))) return false;
  }
  return matcher.is_complete();
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {GrammarKind::regex, "[a-c]{2}-\\d+", {"ab-1", "cc-90"}, {"ab-", "xab-1", "ab-1x", "a-1", ""}},
      {GrammarKind::regex, "^yes|no$", {"yes", "no"}, {"yesno", "", "maybe"}},
      {GrammarKind::regex, "(a|b)*", {"", "abba"}, {"c", "abc"}},
      {GrammarKind::regex, "say \"[^\"\\n]+\"\\n", {"say \"<b> \\ \xC3\xA9\"\n"}, {"say \"\"\n", "say \"a\""}},
      {GrammarKind::regex,
       "\xE4\xB8\xAD[\xE4\xB8\x80-\xE9\xBF\xBF]?",
       {"\xE4\xB8\xAD", "\xE4\xB8\xAD\xE6\x96\x87"},
       {"\xE4\xB8", "a"}},
      {GrammarKind::choice,
       R"(["red", "green", "red wine", "<b>\n\"q\""])",
       {"red", "green", "red wine", "<b>\n\"q\""},
       {"", "re", "redgreen"}},
      {GrammarKind::gbnf, "root ::= \"a\" | \"b\" root  # comment\n", {"a", "ba", "bbba"}, {"", "b", "ab"}},
      {GrammarKind::gbnf,
       "root  ::= term ([-+*/] term)*\nterm  ::= num | \"(\" root \")\"\nnum ::=\n  [0-9]+ (\".\" [0-9]{1,2})?\n",
       {"1", "1+2", "(1-20.5)*3", "((7))"},
       {"1+", "1.234", "()", "(1", "1 + 2"}},
      {GrammarKind::gbnf, "root ::= [^a\\n]{2,} \"\\x21\" .?", {"bc!", "\xC3\xA9 !x"}, {"ac!", "b!", "bc"}},
      {GrammarKind::gbnf,
       "root ::= (\"x\" | )  (\"y\"?){2} \"z\"{0} empty \"\\u00e9\"\nempty ::= \"\"",
       {"\xC3\xA9", "xyy\xC3\xA9"},
       {"xyyy\xC3\xA9", "z\xC3\xA9"}},
  };
  return kRows;
}

}  // namespace

PAGODA_TEST(grammar_text_takes_what_matches_and_nothing_else) {
  const auto tokenizer = make_awkward_tokenizer();
  for (const Row& row : rows()) {
    const auto grammar = make_grammar({row.kind, row.text}, *tokenizer);
    REQUIRE(grammar != nullptr);
    for (const std::string& document : row.good) {
      CHECK(accepts(grammar, document));
      if (failed()) return note(std::string(row.text) + " must take " + document);
    }
    for (const std::string& document : row.bad) {
      CHECK(!accepts(grammar, document));
      if (failed()) return note(std::string(row.text) + " must not take " + document);
    }
  }
}

PAGODA_TEST(grammar_text_documents_drawn_through_masks_match) {
  const auto tokenizer = make_awkward_tokenizer();
  std::mt19937_64 random(seed(31));
  for (const char* expression :
       {"[a-c]{2}-\\d{1,3}", "(true|false)(, (true|false)){0,3}", "\\d{3} [A-Z][a-z]{1,9}\\."}) {
    grammar::CompileBudget budget;
    const auto pattern = grammar::compile_pattern(expression, budget, /*is_whole=*/true);
    REQUIRE_OK(pattern);
    const auto grammar = make_grammar({GrammarKind::regex, expression}, *tokenizer);
    for (int i = 0; i < 20; ++i) {
      const std::string document = random_document(grammar, *tokenizer, random, 100);
      CHECK(!document.empty() && pattern->matches(document, budget));
      if (failed()) return note(std::string(expression) + ": " + document);
    }
  }
}

PAGODA_TEST(grammar_every_one_of_many_choices_can_be_written) {
  const auto tokenizer = make_awkward_tokenizer();
  std::string choices;
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) {
    texts.push_back("item " + std::to_string(i * 7919 % 10007) + (i % 2 ? " <b>" : ""));
    choices += (i == 0 ? "[\"" : ", \"") + texts.back() + "\"";
  }
  const std::string parameters =
      R"({"type":"object","properties":{"a":{"type":"string","enum":)" + choices + R"(]}},"required":["a"]})";
  const std::string frame = "<tool_call>\n<function=f>\n<parameter=a>\n";
  const auto choice = make_grammar({GrammarKind::choice, choices + "]"}, *tokenizer);
  const auto value = make_grammar({GrammarKind::json_schema, R"({"enum": )" + choices + "]}"}, *tokenizer);
  const auto call =
      make_grammar({GrammarKind::tool_calls,
                    R"({"format":"xml","mode":"required","tools":[{"name":"f","parameters":)" + parameters + "}]}"},
                   *tokenizer);
  REQUIRE(choice && value && call);
  for (const std::string& text : texts) {
    CHECK(accepts(choice, text) && accepts(value, "\"" + text + "\""));
    CHECK(accepts(call, frame + text + "\n</parameter>\n</function>\n</tool_call>"));
    if (failed()) return note(text);
  }
  CHECK(!accepts(choice, "item") && !accepts(call, frame + "item\n</parameter>\n</function>\n</tool_call>"));
}

// What the automaton cannot follow is refused; nothing is left out in silence.
PAGODA_TEST(grammar_too_many_ways_to_begin_are_an_error) {
  const auto tokenizer = make_awkward_tokenizer();
  std::string text = "root ::= ";
  for (int i = 0; i < 6000; ++i) text += (i == 0 ? "\"x" : " | \"x") + std::to_string(i) + "\"";
  grammar::GrammarCache cache(tokenizer, tokenizer->vocab_size(), {end_id(*tokenizer)});
  const auto refused = cache.find_or_compile({GrammarKind::gbnf, text});
  CHECK(refused.status.code == StatusCode::unsupported);
  CHECK(refused.status.message.find("ambiguous") != std::string::npos);
}

PAGODA_TEST(grammar_errors_have_the_field_with_the_constraint) {
  const auto tokenizer = make_awkward_tokenizer();
  grammar::GrammarCache cache(tokenizer, tokenizer->vocab_size(), {end_id(*tokenizer)});
  const auto field_of = [&](GrammarKind kind, const std::string& text) {
    const Status status = cache.find_or_compile({kind, text}).status;
    return std::string(status.field != nullptr ? status.field : "");
  };
  const std::string broken = R"({"type": "string", "pattern": "("})";
  CHECK_EQ(field_of(GrammarKind::gbnf, "root := x"), "grammar");
  CHECK_EQ(field_of(GrammarKind::json_schema, broken), "grammar");
  CHECK_EQ(field_of(GrammarKind::tool_calls, R"({"tools": [{"name": "f", "strict": true, "parameters": {
             "type": "object", "properties": {"a": )" +
                                                 broken + "}}}]}"),
           "tools");
  // The form of an answer without a call.
  CHECK_EQ(field_of(GrammarKind::tool_calls, R"({"tools": [{"name": "f"}], "value": )" + broken + "}"), "grammar");
}

PAGODA_TEST(grammar_text_refusals_name_the_reason) {
  const std::vector<std::pair<GrammarSpec, const char*>> rows{
      {{GrammarKind::regex, "(a"}, "regular expression"},
      {{GrammarKind::regex, "a\xE4\xB8"}, "not valid UTF-8"},
      {{GrammarKind::regex, "a(?=b)"}, "regular expression"},
      {{GrammarKind::choice, "[]"}, "array of strings"},
      {{GrammarKind::choice, R"(["a", ""])"}, "choice 1"},
      {{GrammarKind::choice, R"(["a", 2])"}, "choice 1"},
      {{GrammarKind::gbnf, "start ::= \"a\""}, "no rule 'root'"},
      {{GrammarKind::gbnf, "root ::= other"}, "'other' is missing"},
      {{GrammarKind::gbnf, "root ::= \"a\"\nroot ::= \"b\""}, "defined twice"},
      {{GrammarKind::gbnf, "root ::= root \"a\" | \"b\""}, "begins with itself"},
      {{GrammarKind::gbnf, "root ::= a\na ::= empty b\nb ::= a \"x\" | \"y\"\nempty ::= \"\" | \"e\""},
       "begins with itself"},
      {{GrammarKind::gbnf, "root ::= \"a\n"}, "missing at the end"},
      {{GrammarKind::gbnf, "root ::= (\"a\""}, "')' is missing"},
      {{GrammarKind::gbnf, "root ::= \"a\"\n\n) x"}, "line 3"},
      {{GrammarKind::gbnf, "root ::= [b-a]"}, "before its first"},
      {{GrammarKind::gbnf, "root ::= \"a\"{3,1}"}, "below its least"},
      {{GrammarKind::gbnf, "root ::= ((\"a\"{9999}){9999}){9999}"}, "states"},
      {{GrammarKind::gbnf, "root ::= \"a\" root"}, "no document"},
      {{GrammarKind::gbnf, "root ::= \"\\q\""}, "not understood"},
      {{GrammarKind::none, "x"}, "no kind"},
  };
  for (const auto& [spec, reason] : rows) {
    const auto grammar = grammar::compile(spec);
    CHECK(!grammar.is_ok() && grammar.status.message.find(reason) != std::string::npos);
    if (failed()) return note(spec.schema + ": " + grammar.status.message);
  }
}

}  // namespace pagoda::test
