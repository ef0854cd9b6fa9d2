// Texts that a schema's grammar accepts and refuses, byte by byte; which schemas are refused, and with which
// message.
#include <chrono>
#include <string>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/compile.h"
#include "support/test.h"

namespace pagoda::test {

namespace {

// Whether `text` is a whole document.
bool spells(const std::string& schema, const std::string& text) {
  auto compiled = grammar::compile({GrammarKind::json_schema, schema});
  CHECK_OK(compiled);
  if (!compiled.is_ok()) return false;
  grammar::Automaton automaton(std::make_shared<const grammar::Grammar>(std::move(*compiled)));
  int32_t at = automaton.start();
  for (const char byte : text) {
    at = automaton.next(at, static_cast<uint8_t>(byte));
    if (at == grammar::Automaton::kDead) return false;
  }
  return automaton.is_complete(at);
}

struct Row {
  std::string schema;
  std::vector<std::string> taken, refused;
};

void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const std::string& text : row.taken) {
      if (!spells(row.schema, text)) fail(__FILE__, __LINE__, row.schema + " should take " + text);
    }
    for (const std::string& text : row.refused) {
      if (spells(row.schema, text)) fail(__FILE__, __LINE__, row.schema + " should refuse " + text);
    }
  }
}

std::string refusal(const std::string& schema) {
  const auto compiled = grammar::compile({GrammarKind::json_schema, schema});
  if (compiled.is_ok()) return "";
  CHECK(compiled.status.code == StatusCode::invalid_argument);
  return compiled.status.message;
}

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

PAGODA_TEST(grammar_white_space_is_bounded) {
  const std::string two = R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}})";
  check_rows({{two,
               {R"({"a":1,"b":[]})", R"({"a": 1, "b": [1, 2]})", "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ]\n}",
                "\n\n{\"a\": 1}", "{ \"a\": 1 }", "{}", "{\n}", "{\n\t\"a\": 1\n}"},
               {R"({"a":  1})", R"({"a" :1})", R"({"a":1 ,"b":[]})", "\n\n\n{}", " {}", "{} ", "{}\n", "{\n\n\"a\": 1}",
                "{\n" + std::string(33, ' ') + "\"a\": 1}"}}});
}

PAGODA_TEST(grammar_strings_are_valid_utf8_with_valid_escapes) {
  check_rows({{R"({"type": "string"})",
               {R"("")", R"("a\"b\\\/\b\f\n\r\t")", R"("\u00e9")", R"("\ud83d\ude00")", R"("\uD83D\uDE00")",
                "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xee\x80\x80\"", "\"\x7f\""},
               {"\"\n\"", "\"\x01\"", R"("\x41")", R"("\u00g0")", R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")",
                R"("\ud83dx")", "\"\x80\"", "\"\xc0\x80\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
                "\"\xf0\x80\x80\x80\"", "\"\xe0\x80\x80\"", "\"a", "a\""}},
              {R"({"type": "string", "minLength": 1, "maxLength": 2})",
               {R"("a")", R"("\n\u00e9")", R"("\ud83d\ude00b")", "\"\xf0\x9f\x98\x80\xc3\xa9\""},
               {R"("")", R"("abc")", "\"\xc3\xa9\xc3\xa9\xc3\xa9\""}}});
}

PAGODA_TEST(grammar_objects_keep_the_declared_order) {
  const std::string open =
      R"({"type": "object", "properties": {"a": true, "ab": true}, "required": ["ab"], "additionalProperties": {"type": "null"}})";
  check_rows({{open,
               {R"({"a":1,"ab":2})", R"({"ab":2})", R"({"ab":2,"x":null,"abc":null,"":null})"},
               {R"({"ab":2,"a":1})", R"({"a":1})", R"({"ab":2,"a":null})", R"({"ab":2,"ab":null})",
                R"({"x":null,"ab":2})", R"({"ab":2,"x":1})", R"({"ab":2,})", R"({"ab":2,"\u0061":null})"}},
              {R"({"type": "object", "properties": {"a": true}})", {"{}"}, {R"({"b":1})"}},
              {R"({"type": "object", "properties": {"a": false, "b": true}, "additionalProperties": false})",
               {"{}", R"({"b":0})"},
               {R"({"a":1})"}}});
}

PAGODA_TEST(grammar_numbers_stay_within_their_bounds) {
  check_rows({
      {R"({"type": "integer"})",
       {"0", "-1", "123456789012345"},
       {"-0", "01", "1.0", "1e2", "+1", "-", "1234567890123456"}},
      {R"({"type": "number"})", {"0", "-1.5", "1e10", "2.5E-3", "0.000001"}, {"01", ".5", "1.", "1e", "1e100", "--1"}},
      {R"({"type": "integer", "minimum": -17, "maximum": 1234})",
       {"-17", "-9", "0", "7", "99", "1000", "1234"},
       {"-18", "-20", "1235", "2000", "12340", "007"}},
      {R"({"type": "integer", "exclusiveMinimum": 9, "exclusiveMaximum": 101})",
       {"10", "55", "100"},
       {"9", "101", "1", "-10"}},
      {R"({"type": "integer", "minimum": 100})", {"100", "999", "1000", "100000"}, {"99", "0", "-100", "10"}},
      {R"({"type": "integer", "maximum": -5})", {"-5", "-10", "-999"}, {"-4", "0", "5", "-0"}},
      {R"({"type": "integer", "minimum": 0.5, "maximum": 3.5})", {"1", "2", "3"}, {"0", "4", "-1"}},
      {R"({"type": "number", "minimum": -1.5, "maximum": 2.25})",
       {"-1.5", "-1.50", "-1.4", "-0.1", "0", "2", "2.25", "2.249999", "1.999999", "0.5"},
       {"-1.51", "-1.6", "2.26", "2.250001", "3", "-2"}},
      {R"({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})",
       {"0.5", "0.000001", "0.999999"},
       {"0", "0.0", "1", "1.0", "-0.5", "0.000000"}},
      {R"({"type": "number", "maximum": 100, "minimum": 99.5})",
       {"99.5", "99.75", "100", "100.0"},
       {"99.4", "100.1", "99"}},
      {R"({"allOf": [{"type": "number", "minimum": 3}, {"minimum": 5, "exclusiveMinimum": 5}]})", {"5.1"}, {"5", "4"}},
  });
}

PAGODA_TEST(grammar_patterns_match_as_json_schema_says) {
  const auto with = [](const std::string& pattern) { return R"({"type": "string", "pattern": ")" + pattern + "\"}"; };
  check_rows({{with("b+c"), {R"("bc")", R"("xbbcy")"}, {R"("b")", R"("ac")"}},
              {with("^a|b$"), {R"("ax")", R"("xb")", R"("a")"}, {R"("xa")", R"("bx")"}},
              {with("^(ab){2,3}$"), {R"("abab")", R"("ababab")"}, {R"("ab")", R"("abababab")", R"("aba")"}},
              {with("^[^\\\\]x-]+$"), {R"("ab")"}, {R"("a]")", R"("a-")", R"("x")"}},
              {with("^\\\\d{0}$"), {R"("")"}, {R"("1")"}},
              {with("^(a|)$"), {R"("")", R"("a")"}, {R"("aa")"}},
              {with("^.$"), {"\"\xe2\x82\xac\"", R"("\"")", R"("\\")"}, {R"("\n")", R"("ab")"}},
              {with("(^|x)y($|z)"), {R"("y")", R"("axyzb")"}, {R"("ayb")"}},
              {R"({"type": "string", "pattern": "^a*$", "minLength": 2, "maxLength": 3})",
               {R"("aa")", R"("aaa")"},
               {R"("a")", R"("aaaa")"}}});
}

PAGODA_TEST(grammar_references_and_combinations) {
  check_rows(
      {{R"({"$defs": {"a%b": {"type": "null"}}, "$ref": "#/$defs/a%25b"})", {"null"}, {"1"}},
       {R"({"type": "array", "prefixItems": [{"type": "null"}, {"$ref": "#/prefixItems/0"}]})",
        {"[null,null]"},
        {"[null,1]"}},
       {R"({"allOf": [{"properties": {"a": {"type": "integer"}}, "additionalProperties": false}, {"properties": {"b": true}}]})",
        {"{}", R"({"a":1})"},
        {R"({"b":1})"}},
       {R"({"allOf": [true, {"type": ["string", "integer"]}, {"type": "number"}]})", {"1"}, {"1.5", "\"a\""}},
       {R"({"type": "string", "nullable": true, "enum": ["a"]})", {"null", "\"a\""}, {"\"b\""}}});
}

PAGODA_TEST(grammar_names_keywords_that_cannot_be_enforced) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"type": "object", "properties": {"x": {"type": "array", "uniqueItems": true}}})",
       "#/properties/x: 'uniqueItems'"},
      {R"({"not": {"type": "null"}})", "keyword 'not'"},
      {R"({"properties": {"ab": true}, "patternProperties": {"^a": {"type": "null"}}})", "'patternProperties'"},
      {R"({"propertyNames": {"enum": ["a"]}})", "'propertyNames'"},
      {R"({"type": "object", "minProperties": 3})", "'minProperties'"},
      {R"({"type": "object", "maxProperties": 3})", "'maxProperties'"},
      {R"({"if": true})", "'if'"},
      {R"({"type": "number", "multipleOf": 0.5})", "'multipleOf'"},
      {R"({"type": "integer", "multipleOf": 3, "minimum": 5})", "'multipleOf'"},
      {R"({"type": "integer", "multipleOf": 3, "minimum": -9223372036854775807, "maximum": 9223372036854775806})",
       "so wide a range"},
      {R"({"type": "integer", "multipleOf": 3, "exclusiveMinimum": 9223372036854775807})", "leaves no number"},
      {R"({"type": "integer", "multipleOf": 3, "exclusiveMaximum": -9223372036854775808})", "leaves no number"},
      {R"({"type": "text"})", "unknown type 'text'"},
      {R"({"type": 5})", "'type'"},
      {R"({"type": []})", "'type'"},
      {R"({"enum": []})", "'enum'"},
      {R"({"enum": ["a", 5], "minLength": 2})", "no value of 'enum' satisfies"},
      {R"({"type": "integer", "const": "a"})", "no value of 'const' satisfies"},
      {R"({"enum": ["a"], "pattern": "(a"})", "expected ')'"},
      {R"({"type": "object", "required": [1]})", "'required'"},
      {R"({"minLength": -1})", "'minLength'"},
      {R"({"maxLength": 1.5})", "'maxLength'"},
      {R"({"type": "string", "format": 5})", "'format'"},
      {R"~({"pattern": "(?<=a)b"})~", "look-around"},
      {R"~({"pattern": "(a"})~", "expected ')'"},
      {R"~({"pattern": "a)"})~", "unexpected ')'"},
      {R"~({"pattern": "*a"})~", "nothing to repeat"},
      {R"~({"pattern": "a**"})~", "quantifier on a quantifier"},
      {R"~({"pattern": "[a"})~", "expected ']'"},
      {R"~({"pattern": "[z-a]"})~", "out of order"},
      {R"~({"pattern": "\\p{L}"})~", "\\p is not supported"},
      {R"~({"pattern": "\\bword"})~", "\\b is not supported"},
      {R"~({"pattern": "(a)\\1"})~", "\\1 is not supported"},
      {R"~({"pattern": "a{0,1000000}"})~", "write out"},
      {R"~({"pattern": "(((a{100}){100}){100})"})~", "too"},
      {R"~({"pattern": "(a|b)*a(a|b){20}"})~", "states"},
      {"{\"pattern\": \"" + repeated("(", 60'000) + "\"}", "bytes"},
      {"{\"pattern\": \"" + repeated("(", 1000) + "\"}", "nested deeper"},
      {R"({"$ref": "#"})", "refers to itself"},
      {R"({"$ref": "#/$defs/x"})", "points nowhere"},
      {R"({"$ref": "other.json"})", "does not point"},
      {R"({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"})",
       "refers to itself"},
      {R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})", "refers to itself"},
      {R"({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}, "$ref": "#/$defs/a"})",
       "schema at"},
      {R"({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]})", "no document"},
      {R"({"type": "integer", "minimum": 5, "maximum": 4})", "no document"},
      {R"({"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 5})", "no document"},
      {R"({"allOf": [{"type": "string"}, {"type": "null"}]})", "no document"},
      {R"({"type": "array", "items": false, "minItems": 1})", "no document"},
      {"false", "no document"},
      {R"({"type": "object", "required": ["a"], "additionalProperties": false})", "no document"},
      {R"({"allOf": [{"pattern": "a"}, {"pattern": "b"}]})", "cannot be combined"},
      {R"({"type": "string", "minLength": 100000000})", "too large"},
      {R"({"type": "array", "maxItems": 100000000})", "too large"},
      {"[1]", "a schema is an object"},
      {"{", "not JSON"},
      {"{\"enum\": [\"" + std::string(1 << 20, 'a') + "\"]}", "bytes"},
      {repeated(R"({"properties": {"a": )", 60) + "true" + repeated("}}", 60), "nested deeper"},
      {repeated(R"({"items": )", 20'000) + "true" + repeated("}", 20'000), "not JSON"},
      {R"({"type": "number", "minimum": 1e40})", "'minimum'"},
  };
  for (const auto& [schema, words] : rows) {
    const std::string message = refusal(schema);
    if (message.find(words) == std::string::npos) {
      fail(__FILE__, __LINE__, schema.substr(0, 100) + " gave: " + message.substr(0, 300) + ", without: " + words);
    }
  }
}

PAGODA_TEST(grammar_names_items_and_multiples_are_held_to_their_keywords) {
  check_rows({
      {R"({"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": true, "minItems": 1})",
       {R"(["a"])", R"(["a", "c"])", R"(["b","c"])", R"(["a","b","c"])"},
       {"[]", R"(["a","a"])", R"(["a","b","a"])"}},
      {R"({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": true, "maxItems": 2})",
       {"[]", "[1, 3]"},
       {"[1, 2, 3]", "[2, 2]"}},
      {R"({"type": "array", "items": {"type": "string"}, "uniqueItems": true, "maxItems": 1})", {R"(["x"])"}, {}},
      {R"({"type": "integer", "multipleOf": 7})", {"0", "7", "-14", "700", "49"}, {"1", "8", "-13", "07", "701"}},
      {R"({"type": "integer", "multipleOf": 5, "minimum": 3, "maximum": 20})", {"5", "20"}, {"0", "3", "25", "7"}},
      {R"({"type": "integer", "multipleOf": 4, "minimum": -9, "maximum": 0})", {"-8", "-4", "0"}, {"-9", "4", "-12"}},
      {R"({"type": "integer", "multipleOf": 1, "minimum": 3})", {"3", "4"}, {"2"}},
      {R"({"type": "integer", "multipleOf": 5, "minimum": 9223372036854775800, "maximum": 9223372036854775806})",
       {"9223372036854775800", "9223372036854775805"},
       {"0", "9223372036854775801", "-9223372036854775806"}},
      {R"({"type": "object", "patternProperties": {"^x-[a-z]+$": {"type": "integer"}}})",
       {"{}", R"({"x-a": 1})", R"({"x-a": 1, "x-bc": 2})"},
       {R"({"y": 1})", R"({"x-a": "s"})"}},
      {R"({"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": {"^x-": true}})",
       {"{}", R"({"a": null})"},
       {R"({"x-a": 1})"}},
      {R"({"type": "object", "propertyNames": {"pattern": "^[a-z]{2}$"}, "additionalProperties": {"type": "boolean"}})",
       {"{}", R"({"ab": true})"},
       {R"({"abc": true})", R"({"ab": 1})"}},
      {R"({"type": "object", "minProperties": 1, "additionalProperties": {"type": "null"}})",
       {R"({"a": null})"},
       {"{}"}},
      {R"({"type": "object", "minProperties": 1, "properties": {"a": {"type": "null"}, "b": {"type": "null"}}})",
       {R"({"a": null})", R"({"b": null})"},
       {"{}"}},
  });
}

// Schemas as pydantic and OpenAPI write them: lengths that are limits of a field in a database.
PAGODA_TEST(grammar_long_lengths_and_common_formats_compile) {
  check_rows({
      {R"({"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083})",
       {R"("https://example.org/a?b=c#d")"},
       {R"("")", R"("no uri")"}},
      {R"({"type": "string", "format": "email", "maxLength": 320})", {R"("ann@example.org")"}, {R"("ann")"}},
      {R"({"type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": 5000})", {R"("a-b")"}, {R"("A")"}},
      {R"({"type": "string", "maxLength": 100000000})", {R"("")", R"("text")"}, {}},
      {R"({"type": "string", "format": "hostname", "maxLength": 253})", {R"("a.example")"}, {R"("a b")"}},
      {R"({"type": "string", "format": "path"})", {R"("/usr/lib")", R"("a.txt")"}, {R"("")"}},
      {R"({"type": "string", "format": "password", "minLength": 2})", {R"("ab c")"}, {R"("a")"}},
      {R"({"type": "string", "format": "binary", "pattern": "^b"})", {R"("bc")"}, {R"("ab")"}},
      {R"({"type": "string", "format": "byte"})", {R"("")", R"("QUI=")"}, {R"("Q")"}},
      {R"({"type": "string", "format": "url"})", {R"("http://a.b/")"}, {R"("a")"}},
  });
}

PAGODA_TEST(grammar_long_chains_of_references_are_short_ways) {
  std::string schema = R"({"$ref": "#/$defs/d0", "$defs": {)";
  for (int i = 0; i < 1000; ++i)
    schema += "\"d" + std::to_string(i) + R"(": {"$ref": "#/$defs/d)" + std::to_string(i + 1) + "\"}, ";
  schema += R"("d1000": {"type": "boolean"}}})";
  check_rows({{schema, {"true"}, {"1"}}});
}

PAGODA_TEST(grammar_nesting_ends_where_it_must) {
  auto compiled = grammar::compile({GrammarKind::json_object, ""});
  REQUIRE_OK(compiled);
  grammar::Automaton automaton(std::make_shared<const grammar::Grammar>(std::move(*compiled)));
  int32_t at = automaton.start();
  for (const char c : std::string("{\"a\":")) at = automaton.next(at, static_cast<uint8_t>(c));
  int depth = 0;
  while (automaton.next(at, '[') != grammar::Automaton::kDead && depth < 1000) {
    at = automaton.next(at, '[');
    ++depth;
  }
  CHECK(depth > 50 && depth <= grammar::kMaxNesting);
  for (const char c : "1" + std::string(static_cast<size_t>(depth), ']') + "}") {
    at = automaton.next(at, static_cast<uint8_t>(c));
    REQUIRE(at != grammar::Automaton::kDead);
  }
  CHECK(automaton.is_complete(at) && !automaton.can_continue(at));
}

// Similar alternatives double at each level: the work is bounded, and what exceeds it is an error.
PAGODA_TEST(grammar_ambiguous_schemas_stay_bounded) {
  const std::string schema =
      R"({"$defs": {"t": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/t"}}, {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 3}]}}, "$ref": "#/$defs/t"})";
  check_rows({{schema, {std::string(8, '[') + "null" + std::string(8, ']'), "[null,null]"}, {"[", "[1]"}}});
  auto compiled = grammar::compile({GrammarKind::json_schema, schema});
  REQUIRE_OK(compiled);
  grammar::Automaton automaton(std::make_shared<const grammar::Grammar>(std::move(*compiled)));
  int32_t at = automaton.start();
  for (int i = 0; i < 30 && at != grammar::Automaton::kDead; ++i) at = automaton.next(at, '[');
  CHECK(at == grammar::Automaton::kDead && automaton.is_exhausted());
}

PAGODA_TEST(grammar_listed_values_satisfy_the_other_keywords) {
  check_rows({
      {R"({"enum": ["a", "ab", "abc", 7, null], "minLength": 2})", {R"("ab")", R"("abc")"}, {R"("a")", "7", "null"}},
      {R"({"enum": ["a1", "b", "c2"], "pattern": "[0-9]"})", {R"("a1")", R"("c2")"}, {R"("b")"}},
      {R"({"const": "abc", "type": "string", "maxLength": 3, "format": "date"})", {R"("abc")"}, {}},
      {R"({"enum": [1, 2, 3, 10], "minimum": 2, "multipleOf": 2})", {"2", "10"}, {"1", "3"}},
      {R"({"enum": [[1], [1, 1], ["a"]], "items": {"type": "integer"}, "uniqueItems": true})", {"[1]"}, {"[1,1]"}},
      {R"({"enum": [{"a": 1}, {"b": 1}, {"a": "x"}], "required": ["a"], "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "number"}}})",
       {R"({"a":1})"},
       {R"({"b":1})", R"({"a":"x"})"}},
      {R"({"type": "string", "anyOf": [{"enum": ["x"]}, {"enum": [1]}]})", {R"("x")"}, {"1"}},
      {R"({"allOf": [{"enum": ["x", "y"]}, {"enum": ["y", "z"]}, {"type": "string"}]})", {R"("y")"}, {R"("x")"}},
      {R"({"anyOf": [{"allOf": [{"const": 1}, {"const": 2}]}, {"type": "null"}]})", {"null"}, {"1", "2"}},
  });
}

PAGODA_TEST(grammar_patterns_outweigh_formats_and_unknown_formats_are_annotations) {
  // As zod 4 writes them.
  const std::string email =
      R"~({"type": "string", "format": "email", "pattern": "^(?:[A-Za-z0-9_'+-]+\\.)*[A-Za-z0-9_+-]+@(?:[A-Za-z0-9-]+\\.)+[A-Za-z]{2,}$"})~";
  const std::string uuid =
      R"~({"type": "string", "format": "uuid", "pattern": "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000)$"})~";
  check_rows({
      {email, {R"("ann@example.org")"}, {R"("ann")", R"("a@b")"}},
      {uuid, {R"("6BA7B810-9dad-11d1-80b4-00c04fd430c8")"}, {R"("6ba7b810-9dad-91d1-80b4-00c04fd430c8")"}},
      {R"({"type": "string", "format": "date", "pattern": "^[a-z]+$"})", {R"("abc")"}, {R"("2024-01-01")"}},
      {R"({"type": "string", "format": "phone", "minLength": 2})", {R"("+49 1")"}, {R"("1")"}},
      {R"({"type": "string", "format": "date", "minLength": 3})", {R"("2024-01-31")"}, {R"("20")"}},
      {R"({"type": "integer", "format": "int32"})", {"5"}, {R"("5")"}},
      {R"({"type": "string", "format": "ulid", "maxLength": 2})", {R"("ab")"}, {R"("abc")"}},
  });
}

// Strings without a pattern are counted exactly, however long.
PAGODA_TEST(grammar_long_lengths_are_exact) {
  for (const size_t length : {63u, 64u, 65u, 4095u, 4096u, 4160u, 10'000u}) {
    const std::string schema = R"({"type": "string", "minLength": 2, "maxLength": )" + std::to_string(length) + "}";
    auto compiled = grammar::compile({GrammarKind::json_schema, schema});
    REQUIRE_OK(compiled);
    grammar::Automaton automaton(std::make_shared<const grammar::Grammar>(std::move(*compiled)));
    int32_t at = automaton.next(automaton.start(), '"');
    for (size_t i = 0; i < length && at != grammar::Automaton::kDead; ++i) {
      CHECK_EQ(automaton.next(at, '"') != grammar::Automaton::kDead, i >= 2);
      at = automaton.next(at, 'a');
      automaton.begin_work();
    }
    REQUIRE(at != grammar::Automaton::kDead);
    CHECK(automaton.next(at, 'a') == grammar::Automaton::kDead && !automaton.is_exhausted());
    CHECK(automaton.next(at, '"') != grammar::Automaton::kDead);
    if (failed()) return note(std::to_string(length));
  }
}

}  // namespace pagoda::test
