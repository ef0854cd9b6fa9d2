// Random documents drawn through the token masks satisfy their schemas, and the masks are what a check token by token
// gives.
#include <algorithm>
#include <random>
#include <string>

#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::test {

namespace {

// The slow obvious way to a mask: every token, one by one.
void check_masks(const NamedSchema& named, const text::BpeTokenizer& tokenizer, std::mt19937_64& random) {
  const auto grammar = make_grammar({"json_schema", named.text}, tokenizer);
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
    const auto grammar = make_grammar({"json_schema", named.text}, *tokenizer);
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

PAGODA_TEST(grammar_json_object_is_any_object_and_nothing_else) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  const auto grammar = make_grammar({"json_object", ""}, *tokenizer);
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
  const auto grammar = make_grammar({"json_object", ""}, *tokenizer);
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
