// Random documents drawn through the token masks satisfy their schemas, and the masks equal those of a check token by
// token.
#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "grammar/compile.h"
#include "grammar/grammar_cache.h"
#include "support/grammar_kit.h"
#include "support/test.h"
#include "support/tokenizer_fixtures.h"

namespace pagoda::test {

namespace {

// The slow, obvious way to compute a mask: every token, one by one.
void check_masks(const NamedSchema& named, const text::SubwordTokenizer& tokenizer, std::mt19937_64& random) {
  const auto grammar = make_grammar({GrammarKind::json_schema, named.text}, tokenizer);
  if (!grammar) return note(named.name);
  grammar::Matcher matcher(grammar);
  for (int step = 0; step < 25 && !matcher.must_end() && !failed(); ++step) {
    const std::span<const uint64_t> mask = matcher.allowed();
    const std::vector<uint64_t> copy(mask.begin(), mask.end());
    for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
      grammar::Matcher attempt = matcher;
      const bool fits = !tokenizer.is_verbatim(id) && attempt.accept(tokenizer.token_bytes(id));
      CHECK_EQ(is_allowed(copy, id), id == end_id(tokenizer) ? matcher.is_complete() : fits);
    }
    const std::vector<int32_t> tokens = allowed_tokens(copy);
    if (tokens.empty()) break;
    const int32_t token = tokens[random() % tokens.size()];
    if (token == end_id(tokenizer) || !matcher.accept(tokenizer.token_bytes(token))) break;
  }
  if (failed()) note(named.name);
}

}  // namespace

PAGODA_TEST(grammar_random_documents_satisfy_their_schemas) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  std::mt19937_64 random(seed(7));
  for (const NamedSchema& named : read_schemas()) {
    const auto grammar = make_grammar({GrammarKind::json_schema, named.text}, *tokenizer);
    int num_finished = 0;
    for (int i = 0; grammar && i < 12; ++i) {
      const std::string document = random_document(grammar, *tokenizer, random, 400);
      if (document.empty()) continue;
      ++num_finished;
      io::JsonLimits limits;
      limits.reject_duplicate_keys = false;
      const auto value = io::parse_json(document, limits);
      CHECK_OK(value);
      if (value.is_ok()) CHECK(satisfies(named.schema, named.schema, *value));
      if (failed()) return note(named.name + ": " + document);
    }
    CHECK(num_finished >= 4);
    if (failed()) return note(named.name + ": " + std::to_string(num_finished) + " documents came to an end");
  }
}

PAGODA_TEST(grammar_masks_equal_a_check_of_every_token) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  std::mt19937_64 random(seed(11));
  for (const NamedSchema& named : read_schemas()) {
    check_masks(named, *tokenizer, random);
    if (failed()) return;
  }
}

namespace {

// Every byte is a token, then `tokens`, then <|end|>.
std::shared_ptr<const text::SubwordTokenizer> tokenizer_of(const std::vector<std::string>& tokens) {
  std::string vocab;
  int32_t id = 256;
  for (const std::string& token : tokens)
    vocab += (vocab.empty() ? "\"" : ", \"") + spell_bytes(token) + "\": " + std::to_string(id++);
  const std::string end = R"({"content": "<|end|>", "special": true, "id": )" + std::to_string(id) + "}";
  const auto tokenizer = text::SubwordTokenizer::from_json(make_byte_tokenizer_json(end, vocab), "made");
  CHECK_OK(tokenizer);
  return tokenizer.is_ok() ? *tokenizer : nullptr;
}

}  // namespace

PAGODA_TEST(grammar_masks_of_counted_strings_equal_a_check_of_every_token) {
  std::vector<std::string> tokens;
  for (size_t length = 2; length <= 24; ++length) {
    tokens.push_back(std::string(length, 'a'));
    tokens.push_back(std::string(length - 1, 'b') + "\"");
    std::string wide;
    for (size_t i = 0; i < length; ++i) wide += i % 2 ? "\xe2\x82\xac" : "c";
    tokens.push_back(wide);
  }
  const auto tokenizer = tokenizer_of(tokens);
  REQUIRE(tokenizer);
  std::mt19937_64 random(seed(12));
  for (const int length : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 30}) {
    NamedSchema named{"at most " + std::to_string(length), {}, ""};
    named.text = R"({"type": "string", "maxLength": )" + std::to_string(length) + "}";
    named.schema = *io::parse_json(named.text);
    check_masks(named, *tokenizer, random);
    if (failed()) return note(named.name);
  }
}

PAGODA_TEST(grammar_ids_that_no_token_has_are_never_allowed) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  auto compiled = grammar::compile({GrammarKind::json_object, ""});
  REQUIRE_OK(compiled);
  const int32_t size = tokenizer->vocab_size() + 100;  // a model with spare ids
  const auto grammar = std::make_shared<grammar::TokenGrammar>(
      std::make_shared<const grammar::Grammar>(std::move(*compiled)),
      std::make_shared<const grammar::Vocabulary>(*tokenizer, size, std::vector<int32_t>{end_id(*tokenizer)}));
  grammar::Matcher matcher(grammar);
  for (const char* text : {"{", "\"", "a", "\": ", "1"}) {
    CHECK(matcher.accept(text));
    for (int32_t id = tokenizer->vocab_size(); id < size; ++id) CHECK(!is_allowed(matcher.allowed(), id));
  }
}

// One pattern remembers which of the last four characters were its letter; 26 of them together remember all four.
PAGODA_TEST(grammar_a_mask_that_costs_too_much_is_refused_by_name) {
  std::string schema = R"({"anyOf": [)";
  for (char letter = 'A'; letter <= 'Z'; ++letter)
    schema += std::string(letter == 'A' ? "" : ", ") + R"({"type": "string", "pattern": "^[a-zA-Z ]*)" + letter +
              R"([a-zA-Z ]{3}$"})";
  schema += "]}";
  std::mt19937_64 random(seed(13));
  std::set<std::string> words;
  while (words.size() < 30000) {
    std::string word;
    for (int i = 0; i < 5; ++i) word += static_cast<char>('A' + random() % 26);
    words.insert(word);
  }
  const auto tokenizer = tokenizer_of({words.begin(), words.end()});
  REQUIRE(tokenizer);
  grammar::GrammarCache cache(tokenizer, tokenizer->vocab_size(), {end_id(*tokenizer)});
  auto grammar = cache.find_or_compile({GrammarKind::json_schema, schema});
  REQUIRE_OK(grammar);
  grammar::Matcher matcher(*grammar);
  CHECK(matcher.accept("\"ABCD"));
  CHECK(matcher.allowed().empty());
  CHECK(matcher.status().code == StatusCode::unsupported);
  CHECK(matcher.status().message.find("ambiguous") != std::string::npos);
  CHECK(cache.find_or_compile({GrammarKind::json_schema, schema}).status.code == StatusCode::unsupported);
  // A single one of the patterns is no problem, and the cache has not lost others.
  auto one = cache.find_or_compile(
      {GrammarKind::json_schema, R"({"type": "string", "pattern": "^[a-zA-Z ]*X[a-zA-Z ]{3}$"})"});
  REQUIRE_OK(one);
  grammar::Matcher simple(*one);
  CHECK(simple.accept("\"ABCD") && allowed_tokens(simple.allowed()).size() > 30000 && simple.status().is_ok());
}

PAGODA_TEST(grammar_json_object_is_any_object_and_nothing_else) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  const auto grammar = make_grammar({GrammarKind::json_object, ""}, *tokenizer);
  REQUIRE(grammar);
  std::mt19937_64 random(seed(3));
  int num_finished = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string document = random_document(grammar, *tokenizer, random, 300);
    if (document.empty()) continue;
    ++num_finished;
    io::JsonLimits limits;
    limits.reject_duplicate_keys = false;
    const auto value = io::parse_json(document, limits);
    CHECK(value.is_ok() && value->is_object());
    if (failed()) return note(document);
  }
  CHECK(num_finished > 20);
  grammar::Matcher array(grammar);
  CHECK(!array.accept("["));
}

PAGODA_TEST(grammar_a_forgetful_automaton_gives_the_same_masks) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  const auto grammar = make_grammar({GrammarKind::json_object, ""}, *tokenizer);
  REQUIRE(grammar);
  grammar::Matcher matcher(grammar);
  CHECK(matcher.accept("{\"a\": [1, {\"b\": \"x"));
  grammar::Automaton& automaton = grammar->automaton();
  const std::vector<uint64_t> before(matcher.allowed().begin(), matcher.allowed().end());
  const uint64_t generation = automaton.generation();
  for (int round = 0; automaton.generation() == generation && round < 4000; ++round) {
    grammar::Matcher other(grammar);
    std::mt19937_64 random(static_cast<uint64_t>(round));
    std::string text = "{\"a\":";
    for (int i = 0; i < 60; ++i) text += random() % 2 == 0 ? "[" : "{\"k\":";
    (void)other.accept(text);
    (void)other.allowed();
  }
  CHECK(automaton.generation() != generation);
  CHECK(std::ranges::equal(before, matcher.allowed()));
  CHECK(matcher.accept("\"}]}") && matcher.must_end());
}

}  // namespace pagoda::test
