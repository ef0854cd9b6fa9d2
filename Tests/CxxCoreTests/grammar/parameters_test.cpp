// Parameters of XML calls: what the grammar accepts, the output parser decodes to values that satisfy the schema.
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "grammar/compile.h"
#include "pagoda/output_parser.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::test {

namespace {

const std::string kOpening = "<tool_call>\n<function=f>\n", kClosing = "</function>\n</tool_call>";

std::string calls_of(const std::string& parameters) {
  return R"({"format":"xml","mode":"required","parallel":false,"tools":[{"name":"f","strict":true,"parameters":)" +
         parameters + "}]}";
}

std::string object_of(const std::string& schema) {
  return R"({"type":"object","properties":{"p":)" + schema + R"(},"required":["p"],)" +
         R"("$defs":{"s":{"type":"string"},"n":{"type":"integer"},"e":{"enum":["a<b","2",2]},"t":{"type":"string","minLength":2},)" +
         R"("u":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"array","items":{"$ref":"#/$defs/u"}}]}}})";
}

// The arguments that the output parser finds, fed in pieces; empty unless the text is one whole call.
std::string decode(const std::string& parameters, const std::string& document, std::mt19937_64& random) {
  Status status;
  OutputParser* parser =
      make_output_parser({true, false, R"([{"name":"f","parameters":)" + parameters + "}]"}, &status);
  CHECK_OK(status);
  if (!parser) return {};
  std::vector<OutputSegment> segments;
  const auto take = [&](OutputSegments found) {
    for (OutputSegment& segment : found.segments) segments.push_back(std::move(segment));
  };
  for (size_t at = 0; at < document.size();) {
    const size_t size = random() % 2 == 0 ? document.size() : random() % 7 + 1;
    take(parser->push(document.substr(at, size)));
    at += size;
  }
  take(parser->finish_cut());
  pagoda_output_parser_release(parser);
  std::string arguments;
  int num_calls = 0;
  for (const OutputSegment& segment : segments) {
    if (segment.kind == OutputSegmentKind::tool_arguments) arguments += segment.text;
    num_calls += segment.kind == OutputSegmentKind::tool_call_end;
  }
  return num_calls == 1 ? arguments : std::string();
}

// A walk of random tokens that often tries text of interest: tags and parts of them, line ends, null.
std::string random_call(const std::shared_ptr<grammar::TokenGrammar>& grammar, const text::SubwordTokenizer& tokenizer,
                        std::mt19937_64& random) {
  static const std::vector<std::string> kTried = {
      "\n</parameter>\n", "\n</parameter>\n", "\"", "]",       "}",  "</parameter", "<tool_cal", "\r", "\n",   "<",
      "</function",       "<parameter=",      " ",  "</param", "ab", "null",        "None",      "1",  "true", "\\"};
  grammar::Matcher matcher(grammar);
  std::string document;
  for (int i = 0; i < 300; ++i) {
    if (matcher.must_end()) return document;
    std::string text;
    if (random() % 2 == 0) text = kTried[random() % kTried.size()];
    if (text.empty() || !grammar::Matcher(matcher).accept(text)) {
      const std::vector<int32_t> tokens = allowed_tokens(matcher.allowed());
      CHECK(!tokens.empty());  // no dead ends
      if (tokens.empty()) return note("dead end after " + document), std::string();
      text = tokenizer.token_bytes(tokens[random() % tokens.size()]);
    }
    document += text;
    CHECK(matcher.accept(text));
  }
  return {};
}

class RandomSchema {
 public:
  explicit RandomSchema(std::mt19937_64& random) : random_(random) {}

  std::string make(int depth) {
    switch (random_() % (depth > 0 ? 9 : 5)) {
      case 0: return string();
      case 1: return listed();
      case 2:
        return pick({R"({"type":"integer","minimum":-3,"maximum":12})", R"({"type":"boolean"})", R"({"type":"null"})",
                     R"({"type":"array","items":{"type":"string"},"maxItems":2})", R"({"type":"number"})", "{}",
                     R"({"type":"object","properties":{"<x>":{"const":"</function>"}},"required":["<x>"]})"});
      case 3:
        return pick({R"({"type":["string","null"]})", R"({"type":["string","integer"]})",
                     R"({"type":["null","boolean"]})", R"({"type":["string","null"],"maxLength":3})",
                     R"({"type":["string","null"],"enum":["null"]})",
                     R"({"type":["string","null"],"enum":["null",null,"a"]})"});
      case 4: return R"({"$ref":"#/$defs/)" + pick({"s", "n", "e", "t", "u"}) + "\"}";
      case 5: return R"({"anyOf":[)" + make(depth - 1) + "," + make(depth - 1) + "]}";
      case 6: return R"({"allOf":[)" + make(depth - 1) + "," + make(depth - 1) + "]}";
      case 7: return R"({"type":"string","anyOf":[)" + make(depth - 1) + "," + make(depth - 1) + "]}";
      default: return R"({"maxLength":6,"$ref":"#/$defs/)" + pick({"s", "t"}) + "\"}";
    }
  }

 private:
  std::string pick(const std::vector<std::string>& texts) { return texts[random_() % texts.size()]; }

  std::string string() {
    std::string schema = R"({"type":"string")";
    if (random_() % 3 == 0) schema += R"(,"minLength":)" + std::to_string(random_() % 4);
    if (random_() % 3 == 0) schema += R"(,"maxLength":)" + std::to_string(random_() % 8 + 3);
    if (random_() % 2 == 0)
      schema += R"(,"pattern":")" +
                pick({"^[a-z]+$", "a.b", "^</?[a-z]+>$", "^[^<]*<[^<]*$", "^(yes|null)$", "^\\\\d{1,3}$", "<", "\\\\r$",
                      "^[<\\\\n/parmet=>]*$"}) +
                "\"";
    return schema + "}";
  }

  std::string listed() {
    static const std::vector<std::string> kValues = {R"("abc")", R"("null")", "null",      R"("1")", "1",
                                                     R"("a<b")", R"("")",     R"("None")", "true",   R"("true")",
                                                     "2.5",      "[1]",       R"("x\ny ")"};
    if (random_() % 3 == 0) return R"({"const":)" + pick(kValues) + "}";
    std::string values;
    for (size_t i = 0; i < random_() % 4 + 1; ++i) values += (values.empty() ? "" : ",") + pick(kValues);
    const std::string more =
        pick({"", "", R"(,"minLength":2)", R"(,"type":"string")", R"(,"type":["string","number"])"});
    return R"({"enum":[)" + values + "]" + more + "}";
  }

  std::mt19937_64& random_;
};

}  // namespace

PAGODA_TEST(grammar_random_parameters_decode_to_values_of_their_schemas) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  std::mt19937_64 random(seed(34));
  int num_compiled = 0, num_values = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string parameters = object_of(RandomSchema(random).make(2));
    const auto root = io::parse_json(parameters);
    REQUIRE_OK(root);
    const auto compiled = grammar::compile({GrammarKind::tool_calls, calls_of(parameters)});
    if (!compiled.is_ok()) {
      CHECK(compiled.status.code == StatusCode::invalid_argument);
      continue;
    }
    const auto grammar = make_grammar({GrammarKind::tool_calls, calls_of(parameters)}, *tokenizer);
    ++num_compiled;
    for (int i = 0; i < 8; ++i) {
      const std::string document = random_call(grammar, *tokenizer, random);
      if (failed()) return note(parameters);
      if (document.empty()) continue;
      const std::string arguments = decode(parameters, document, random);
      io::JsonLimits limits;
      limits.reject_duplicate_keys = false;
      const auto value = io::parse_json(arguments, limits);
      CHECK(value.is_ok() && value->find("p") && satisfies(*root, *root, *value));
      if (failed()) return note(parameters + "\n" + document + "\n" + arguments);
      ++num_values;
    }
  }
  CHECK(num_compiled > 150 && num_values > 600);
  note(std::to_string(num_compiled) + " schemas, " + std::to_string(num_values) + " values");
}

namespace {

struct ValueRow {
  std::string schema, text, value;  // an empty value: the grammar does not accept the text
};

}  // namespace

PAGODA_TEST(grammar_parameters_are_raw_text_within_their_constraints) {
  const std::string code = "grep \"a b\" 'c\\d' | sed s/</>/\n\tif (a < b) { return \"</p>\"; }\n";
  std::string escaped;
  io::append_json_string(code, escaped);
  const std::vector<ValueRow> rows = {
      {R"({"type":"string","minLength":1})", code, escaped},
      {R"({"type":"string","maxLength":500})", code, escaped},
      {R"({"type":"string","pattern":"[\\s\\S]"})", code, escaped},
      {R"({"type":"string","pattern":"^grep","minLength":3,"maxLength":200})", code, escaped},
      {R"({"type":"string","format":"shell"})", code, escaped},
      {R"({"type":"string","minLength":3})", "ab\r", R"("ab\r")"},
      {R"({"type":"string","minLength":3})", "ab", ""},
      {R"({"type":"string","maxLength":2})", "a\xC3\xA9", "\"a\xC3\xA9\""},
      {R"({"type":"string","maxLength":2})", "abc", ""},
      {R"({"type":"string"})", "<parameter=x>", ""},
      {R"({"type":"string"})", "x</parameter>", ""},
      {R"({"type":"string","pattern":"^</?[a-z]+>$"})", "</parameters>", R"("</parameters>")"},
      {R"({"type":"string","pattern":"^</?[a-z]+>$"})", "</parameter>", ""},
      {R"({"enum":["a<b","<i>","\"q\"","\n"]})", "a<b", R"("a<b")"},
      {R"({"enum":["a<b","<i>","\"q\"","\n"]})", "\"q\"", R"("\"q\"")"},
      {R"({"enum":["a<b","<i>","\"q\"","\n"]})", "\n", R"("\n")"},
      {R"({"const":"abc"})", "abc", R"("abc")"},
      {R"({"const":"abc"})", "\"abc\"", ""},
      {R"({"anyOf":[{"const":"abc"},{"const":5}]})", "abc", R"("abc")"},
      {R"({"anyOf":[{"const":"abc"},{"const":5}]})", "5", "5"},
      {R"({"anyOf":[{"const":"abc"},{"const":5}]})", "\"abc\"", ""},
      {R"({"type":["string","null"],"enum":["null"]})", "null", R"("null")"},
      {R"({"type":["string","null"],"enum":["a",null]})", "null", "null"},
      {R"({"enum":["a",1,true]})", "1", "1"},
      {R"({"type":["string","integer"],"enum":["a",1]})", "1", "1"},
      {R"({"minLength":2})", "12", R"("12")"},
      {R"({"$ref":"#/$defs/t"})", "12", R"("12")"},
      {R"({"$ref":"#/$defs/n"})", "12", "12"},
      {R"({"allOf":[{"$ref":"#/$defs/s"},{"maxLength":2}]})", "12", R"("12")"},
      {R"({"type":"string","nullable":true,"minLength":2})", "null", "null"},
      {R"({"type":"array","items":{"type":"string"}})", R"(["</p>", "a<b"])", R"(["</p>", "a<b"])"},
      {R"({"type":"array","items":{"type":"string"}})", R"(["</parameter>"])", ""},
      {R"({"const":{"a":"</parameter>"}})", R"({"a":"\u003c/parameter>"})", R"({"a":"\u003c/parameter>"})"},
      {"{}", "free text", R"("free text")"},
      {"{}", "[1]", "[1]"},
  };
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  std::mt19937_64 random(seed(35));
  for (const ValueRow& row : rows) {
    const std::string parameters = object_of(row.schema);
    const auto grammar = make_grammar({GrammarKind::tool_calls, calls_of(parameters)}, *tokenizer);
    if (!grammar) return note(row.schema);
    const std::string document = kOpening + "<parameter=p>\n" + row.text + "\n</parameter>\n" + kClosing;
    grammar::Matcher matcher(grammar);
    const bool is_accepted = matcher.accept(document) && matcher.is_complete();
    CHECK_EQ(is_accepted, !row.value.empty());
    if (is_accepted) CHECK_EQ(decode(parameters, document, random), "{\"p\":" + row.value + "}");
    if (failed()) return note(row.schema + " with " + row.text);
  }
}

// What cannot be written in XML is an error that names it, never a value that is missing.
PAGODA_TEST(grammar_parameters_that_cannot_be_written_are_refused) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {object_of(R"({"enum":["a","x</parameter>"]})"), "'x</parameter>' cannot be written"},
      {object_of(R"({"enum":["a",1],"allOf":[{"enum":["a",1]}]})"), "'1' cannot be written"},
      {R"({"type":"object","properties":{"a>b":{"type":"string"}}})", "'a>b' cannot be written"},
      {R"({"type":"object","minProperties":3,"properties":{"a":{},"b":{},"c":{}}})", "'minProperties'"},
      {R"({"type":"object","propertyNames":{"pattern":"x"},"properties":{"a":{}}})", "'propertyNames'"},
      // Without a type the value is any text, which once hid all other keywords.
      {object_of(R"({"not":{"type":"string"}})"), "keyword 'not'"},
      {object_of(R"({"allOf":[{"title":"a"},{"if":{}}]})"), "keyword 'if'"},
  };
  for (const auto& [parameters, words] : rows) {
    const auto compiled = grammar::compile({GrammarKind::tool_calls, calls_of(parameters)});
    CHECK(compiled.status.code == StatusCode::invalid_argument);
    CHECK(compiled.status.message.find(words) != std::string::npos);
    if (failed()) return note(parameters + ": " + compiled.status.message);
  }
  const std::string one =
      R"({"type":"object","minProperties":1,"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}})";
  const auto tokenizer = make_awkward_tokenizer();
  const auto grammar = make_grammar({GrammarKind::tool_calls, calls_of(one)}, *tokenizer);
  REQUIRE(grammar);
  for (const auto& [text, fits] : {std::pair("", false),
                                   {"<parameter=a>\n1\n</parameter>\n", true},
                                   {"<parameter=b>\n1\n</parameter>\n", true},
                                   {"<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n", true}})
    CHECK_EQ(grammar::Matcher(grammar).accept(kOpening + text + kClosing), fits);
}

// The types of a member are found where the schema puts them: behind references and in parts of the whole.
PAGODA_TEST(grammar_parameters_of_a_schema_in_parts_are_read_by_type) {
  std::mt19937_64 random(seed(36));
  const std::string value = kOpening + "<parameter=p>\n12\n</parameter>\n" + kClosing;
  for (const auto& [parameters, arguments] : {
           std::pair(R"({"$ref":"#/$defs/o","$defs":{"o":{"properties":{"p":{"type":"integer"}}}}})", R"({"p":12})"),
           {R"({"allOf":[{"properties":{"p":{"type":["integer","string"]}}},{"properties":{"p":{"type":"integer"}}}]})",
            R"({"p":12})"},
           {R"({"type":"object","required":["p"],"additionalProperties":{"type":"integer"}})", R"({"p":12})"},
           {R"({"properties":{"p":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string"}}})", R"({"p":"12"})"},
       }) {
    CHECK_EQ(decode(parameters, value, random), std::string(arguments));
  }
}

}  // namespace pagoda::test
