// Tool calls through the grammar: frames in both formats, names from the list, arguments by schema, and text.
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "grammar/compile.h"
#include "pagoda/output_parser.h"
#include "support/grammar_kit.h"
#include "support/test.h"

namespace pagoda::test {

namespace {

constexpr const char* kWeather =
    R"({"name":"weather","strict":true,"parameters":{"type":"object","properties":{"city":{"type":"string"},)"
    R"("days":{"type":"integer","minimum":1,"maximum":9},"unit":{"enum":["C","F"]}},"required":["city","days"]}})";
constexpr const char* kNow = R"({"name":"now"})";

std::string spec(const std::string& format, const std::string& mode, const std::string& more = "") {
  return "{\"format\":\"" + format + "\",\"mode\":\"" + mode + "\",\"tools\":[" + kWeather + "," + kNow + "]" + more +
         "}";
}

struct Row {
  std::string text;
  bool is_whole;  // a document; otherwise no document starts like this
};

void check_rows(const std::string& spec, const std::vector<Row>& rows) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  const auto grammar = make_grammar({GrammarKind::tool_calls, spec}, *tokenizer);
  REQUIRE(grammar);
  for (const Row& row : rows) {
    grammar::Matcher matcher(grammar);
    const bool goes_on = matcher.accept(row.text);
    CHECK_EQ(goes_on, row.is_whole);
    if (goes_on) CHECK_EQ(matcher.is_complete(), row.is_whole);
    if (failed()) return note(row.text);
  }
}

std::string xml(const std::string& name, const std::string& parameters) {
  return "<tool_call>\n<function=" + name + ">\n" + parameters + "</function>\n</tool_call>";
}

std::string parameter(const std::string& name, const std::string& value) {
  return "<parameter=" + name + ">\n" + value + "\n</parameter>\n";
}

}  // namespace

PAGODA_TEST(grammar_forced_calls_in_xml_have_a_frame_a_name_and_arguments) {
  const std::string city = parameter("city", "New York"), days = parameter("days", "3");
  const std::string whole = xml("weather", city + days);
  check_rows(spec("xml", "required"), {
                                          {whole, true},
                                          {"\n\n" + whole, true},
                                          {whole + "\n" + xml("now", ""), true},
                                          {xml("weather", city + days + parameter("unit", "C")), true},
                                          {xml("weather", parameter("city", "a < b </ c\nd") + days), true},
                                          {"text", false},
                                          {"<tool_call>\n<function=rain>", false},
                                          {"<tool_call>\n<function=weather>\n</function>", false},
                                          {"<tool_call>\n<function=weather>\n" + city + "</function>", false},
                                          {xml("weather", city + parameter("days", "10")), false},
                                          {xml("weather", city + days + parameter("unit", "K")), false},
                                          {xml("weather", parameter("city", "x</parameter>y") + days), false},
                                          {whole + "\ntext", false},
                                      });
  check_rows(spec("xml", "required", ",\"parallel\":false"), {{whole, true}, {whole + "\n<tool_call>", false}});
}

PAGODA_TEST(grammar_forced_calls_in_json_have_a_frame_a_name_and_arguments) {
  const std::string begin = "<tool_call>\n{\"name\": \"weather\", \"arguments\": ", end = "}\n</tool_call>";
  check_rows(spec("json", "required"), {
                                           {begin + R"({"city": "Rome", "days": 2})" + end, true},
                                           {"<tool_call>\n{\"name\": \"now\", \"arguments\": {}" + end, true},
                                           {begin + "{}", false},
                                           {begin + R"({"city": 5)", false},
                                           {"<tool_call>\n{\"name\": \"rain\"", false},
                                           {"{\"city\"", false},
                                       });
}

PAGODA_TEST(grammar_text_is_free_until_a_call_begins) {
  const std::string whole = xml("weather", parameter("city", "Rome") + parameter("days", "3"));
  check_rows(spec("xml", "auto"), {
                                      {"", true},
                                      {"any <text> & \xC3\xA4, even <tool or </", true},
                                      {"Let me see.\n" + whole, true},
                                      {"<<tool_call>\n<function=now>\n</function>\n</tool_call>", true},
                                      {"x <tool_call>\n<function=rain", false},
                                      {"x " + xml("weather", ""), false},
                                      {"x <function=", false},
                                  });
  const std::string value = R"(,"value":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]})";
  check_rows(spec("xml", "auto", value), {{"{\"a\": 1}", true}, {whole, true}, {"text", false}, {"{}", false}});
}

// Whatever the model samples, the parser finds calls whose arguments satisfy the schema.
PAGODA_TEST(grammar_random_calls_are_read_as_calls) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  std::mt19937_64 random(seed(5));
  for (const char* format : {"xml", "json"}) {
    const auto grammar = make_grammar({GrammarKind::tool_calls, spec(format, "required")}, *tokenizer);
    REQUIRE(grammar);
    int num_finished = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string document = random_document(grammar, *tokenizer, random, 400);
      if (document.empty()) continue;
      ++num_finished;
      Status status;
      OutputParser* parser = make_output_parser({true, false, std::string("[") + kWeather + "," + kNow + "]"}, &status);
      REQUIRE(parser);
      std::vector<OutputSegment> segments = parser->push(document).segments;
      for (OutputSegment& segment : parser->finish_cut().segments) segments.push_back(std::move(segment));
      pagoda_output_parser_release(parser);
      std::string arguments, name;
      int num_calls = 0;
      for (const OutputSegment& segment : segments) {
        CHECK(segment.kind != OutputSegmentKind::text && segment.kind != OutputSegmentKind::rejected_tool_call);
        if (segment.kind == OutputSegmentKind::tool_call_begin) name = segment.tool_name, arguments.clear();
        if (segment.kind == OutputSegmentKind::tool_arguments) arguments += segment.text;
        if (segment.kind != OutputSegmentKind::tool_call_end) continue;
        ++num_calls;
        const auto value = io::parse_json(arguments);
        REQUIRE_OK(value);
        if (name == "now") continue;
        const io::Json* city = value->find("city");
        const io::Json* days = value->find("days");
        CHECK(city && city->is_string());
        CHECK(days && days->is_integer() && days->as_integer() >= 1 && days->as_integer() <= 9);
      }
      CHECK(num_calls > 0);
      if (failed()) return note(document);
    }
    CHECK(num_finished >= 20);
  }
}

PAGODA_TEST(grammar_names_the_tool_whose_schema_cannot_be_enforced) {
  const auto tokenizer = make_awkward_tokenizer();
  REQUIRE(tokenizer);
  const std::string odd = R"([{"name":"odd","strict":STRICT,"parameters":{"type":"object","not":{}}}])";
  const auto with = [&](const char* strict) {
    std::string tools = odd;
    tools.replace(tools.find("STRICT"), 6, strict);
    return grammar::compile({GrammarKind::tool_calls, R"({"format":"json","mode":"required","tools":)" + tools + "}"});
  };
  const auto refused = with("true");
  CHECK(refused.status.code == StatusCode::invalid_argument);
  CHECK(refused.status.message.find("tool 'odd'") != std::string::npos);
  CHECK_OK(with("false"));
}

}  // namespace pagoda::test
