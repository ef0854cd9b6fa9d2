// Vocabulary, random walk and validator of the grammar tests.
#include "support/grammar_kit.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "base/json_writer.h"
#include "grammar/compile.h"
#include "support/test.h"
#include "support/tokenizer_fixtures.h"

namespace pagoda::test {

using io::Json;

std::vector<NamedSchema> read_schemas() {
  const auto list = io::parse_json(read_fixture(fixtures_dir() + "/grammar/schemas.json"));
  CHECK_OK(list);
  std::vector<NamedSchema> schemas;
  if (!list.is_ok()) return schemas;
  for (const Json& entry : list->items()) {
    NamedSchema named{entry.find("name")->as_string(), *entry.find("schema"), ""};
    io::append_json(named.schema, named.text);
    schemas.push_back(std::move(named));
  }
  return schemas;
}

std::shared_ptr<const text::SubwordTokenizer> make_awkward_tokenizer() {
  const std::vector<std::string> tokens = {
      "{\"", "\":",   "\": ",   "\": \"",   "\",",      "\", \"",   "\"}",      "\"]",      "}}",         "]}",
      "},",  "],",    "[[",     "{}",       "[]",       ", ",       ",\n",      "{\n",      "\n\n",       "\n\n\n",
      "  ",  "    ",  "\n    ", "        ", "true",     "false",    "null",     "tru",      "e",          "1,",
      "12",  "-1",    "0.",     ".5",       "e+",       "00",       "000",      "\\\"",     "\\u",        "\\ud8",
      "\\n", "\\\\",  "00e9",   "\xc3\xa9", "\xe2\x82", "\x82\xac", "\xf0\x9f", "\x98\x80", "\x98\x80\"", "abc",
      "ab",  "\"a\"", "\"a\":", "kind",     "-0",       "\xe4\xb8", "\x80\x80", "<think",   "name\": "};
  std::string vocab;
  int32_t id = 256;
  for (const std::string& token : tokens) {
    if (token.size() < 2) continue;
    vocab += (vocab.empty() ? "\"" : ", \"") + spell_bytes(token) + "\": " + std::to_string(id++);
  }
  std::string added;
  for (const char* name : {"<|end|>", "<think>", "</think>"}) {
    added += (added.empty() ? "{\"id\": " : ", {\"id\": ") + std::to_string(id++) + ", \"content\": \"" + name +
             "\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": " +
             (name[1] == '|' ? "true}" : "false}");
  }
  auto tokenizer = text::SubwordTokenizer::from_json(make_byte_tokenizer_json(added, vocab), "awkward");
  CHECK_OK(tokenizer);
  return tokenizer.is_ok() ? *tokenizer : nullptr;
}

int32_t end_id(const text::SubwordTokenizer& tokenizer) { return tokenizer.find_token("<|end|>"); }

std::shared_ptr<grammar::TokenGrammar> make_grammar(const GrammarSpec& spec, const text::SubwordTokenizer& tokenizer) {
  auto compiled = grammar::compile(spec);
  CHECK_OK(compiled);
  if (!compiled.is_ok()) return nullptr;
  auto vocabulary = std::make_shared<const grammar::Vocabulary>(tokenizer, tokenizer.vocab_size(),
                                                                std::vector<int32_t>{end_id(tokenizer)});
  return std::make_shared<grammar::TokenGrammar>(std::make_shared<const grammar::Grammar>(std::move(*compiled)),
                                                 std::move(vocabulary));
}

bool is_allowed(std::span<const uint64_t> mask, int32_t token) {
  return (mask[static_cast<size_t>(token) / 64] >> (token % 64) & 1) != 0;
}

std::vector<int32_t> allowed_tokens(std::span<const uint64_t> mask) {
  std::vector<int32_t> tokens;
  for (int32_t id = 0; id < static_cast<int32_t>(mask.size() * 64); ++id) {
    if (is_allowed(mask, id)) tokens.push_back(id);
  }
  return tokens;
}

std::string random_document(const std::shared_ptr<grammar::TokenGrammar>& grammar,
                            const text::SubwordTokenizer& tokenizer, std::mt19937_64& random, int max_tokens) {
  grammar::Matcher matcher(grammar);
  std::string document;
  for (int i = 0; i < max_tokens; ++i) {
    if (matcher.must_end()) return document;
    const std::span<const uint64_t> mask = matcher.allowed();
    std::vector<int32_t> tokens = allowed_tokens(mask);
    CHECK(!tokens.empty());
    if (tokens.empty()) return {};
    if (random() % 3 == 0) {
      std::vector<int32_t> closing;
      for (const int32_t id : {int32_t{'"'}, int32_t{'}'}, int32_t{']'}, end_id(tokenizer)}) {
        if (is_allowed(mask, id)) closing.push_back(id);
      }
      if (!closing.empty()) tokens = closing;
    }
    const int32_t token = tokens[random() % tokens.size()];
    if (token == end_id(tokenizer)) return document;
    document += tokenizer.token_bytes(token);
    const bool accepted = matcher.accept(tokenizer.token_bytes(token));
    CHECK(accepted);
  }
  return {};
}

namespace {

size_t num_characters(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_ascii(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool has_type(const Json& value, const std::string& type) {
  static constexpr const char* kNames[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number() && value.as_double() == std::floor(value.as_double());
  return type == kNames[static_cast<size_t>(value.kind())];
}

bool same(const Json& a, const Json& b) {
  std::string left, right;
  io::append_json(a, left);
  io::append_json(b, right);
  return left == right;
}

double number_of(const Json& schema, const char* key, double otherwise) {
  const Json* value = schema.find(key);
  return value ? value->as_double() : otherwise;
}

bool object_fits(const Json& root, const Json& schema, const Json& value) {
  if (const Json* required = schema.find("required")) {
    for (const Json& name : required->items()) {
      if (!value.find(name.as_string())) return false;
    }
  }
  const Json* properties = schema.find("properties");
  const Json* additional = schema.find("additionalProperties");
  for (const auto& [key, member] : value.members()) {
    const Json* declared = properties ? properties->find(key) : nullptr;
    if (!declared) declared = additional;
    if (declared && !satisfies(root, *declared, member)) return false;
  }
  return true;
}

bool array_fits(const Json& root, const Json& schema, const Json& value) {
  const auto size = static_cast<double>(value.items().size());
  if (size < number_of(schema, "minItems", 0) || size > number_of(schema, "maxItems", HUGE_VAL)) return false;
  const Json* prefix = schema.find("prefixItems");
  const size_t num_prefix = prefix ? prefix->items().size() : 0;
  for (size_t i = 0; i < value.items().size(); ++i) {
    const Json* item = i < num_prefix ? &prefix->items()[i] : schema.find("items");
    if (item && !satisfies(root, *item, value.items()[i])) return false;
  }
  return true;
}

bool string_fits(const Json& schema, const std::string& text) {
  const auto size = static_cast<double>(num_characters(text));
  if (size < number_of(schema, "minLength", 0) || size > number_of(schema, "maxLength", HUGE_VAL)) return false;
  const Json* pattern = schema.find("pattern");
  if (!pattern || !is_ascii(pattern->as_string()) || !is_ascii(text)) return true;
  return std::regex_search(text, std::regex(pattern->as_string()));
}

bool number_fits(const Json& schema, double number) {
  return number >= number_of(schema, "minimum", -HUGE_VAL) && number <= number_of(schema, "maximum", HUGE_VAL) &&
         number > number_of(schema, "exclusiveMinimum", -HUGE_VAL) &&
         number < number_of(schema, "exclusiveMaximum", HUGE_VAL);
}

bool combination_fits(const Json& root, const Json& schema, const Json& value) {
  const auto fits = [&](const Json& part) { return satisfies(root, part, value); };
  const Json* all = schema.find("allOf");
  const Json* any = schema.find("anyOf");
  const Json* one = schema.find("oneOf");
  return (!all || std::ranges::all_of(all->items(), fits)) && (!any || std::ranges::any_of(any->items(), fits)) &&
         (!one || std::ranges::count_if(one->items(), fits) == 1);
}

const Json* follow(const Json& root, std::string pointer) {
  const Json* at = &root;
  while (at && pointer.size() > 1) {
    const size_t end = std::min(pointer.find('/', 2), pointer.size());
    std::string step = pointer.substr(2, end - 2);
    if (const size_t tilde = step.find("~1"); tilde != std::string::npos) step.replace(tilde, 2, "/");
    at = at->find(step);
    pointer = "#" + pointer.substr(end);
  }
  return at;
}

}  // namespace

bool satisfies(const Json& root, const Json& schema, const Json& value) {
  if (schema.is_bool()) return schema.as_bool();
  if (const Json* reference = schema.find("$ref")) {
    const Json* target = follow(root, reference->as_string());
    if (!target || !satisfies(root, *target, value)) return false;
  }
  const Json* type = schema.find("type");
  const auto fits_type = [&](const Json& name) { return has_type(value, name.as_string()); };
  if (type && !(type->is_string() ? fits_type(*type) : std::ranges::any_of(type->items(), fits_type))) return false;
  const Json* constant = schema.find("const");
  if (constant && !same(*constant, value)) return false;
  const Json* list = schema.find("enum");
  if (list && !std::ranges::any_of(list->items(), [&](const Json& item) { return same(item, value); })) return false;
  if (value.is_object() && !object_fits(root, schema, value)) return false;
  if (value.is_array() && !array_fits(root, schema, value)) return false;
  if (value.is_string() && !string_fits(schema, value.as_string())) return false;
  if (value.is_number() && !number_fits(schema, value.as_double())) return false;
  return combination_fits(root, schema, value);
}

}  // namespace pagoda::test
