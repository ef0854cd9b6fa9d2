// OutputParser: the same segments however the text is split; calls in both formats, broken or whole; no markup in text.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "pagoda/output_parser.h"
#include "support/test.h"

namespace pagoda::test {

namespace {

const std::string kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}, "days": {"type": "integer"}, "exact": {"type": "boolean"}, "limit": {"type": "number"},
    "where": {"type": "object"}, "tags": {"type": "array"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "any": {}, "mode": {"enum": ["a", "b"]}}}}},
  {"name": "now"}, {"type": "web_search"},
  {"type": "function", "function": {"name": "write_file", "parameters": {"properties": {"path": {"type": "string"}, "content": {"type": "string"}}}}}
])";

struct Release {
  void operator()(OutputParser* parser) const { pagoda_output_parser_release(parser); }
};
using ParserRef = std::unique_ptr<OutputParser, Release>;

ParserRef make_parser(bool starts_in_reasoning, const std::string& tools, bool splits = true) {
  Status status;
  ParserRef parser(make_output_parser({splits, starts_in_reasoning, tools}, &status));
  CHECK_OK(status);
  return parser;
}

// One line per segment, adjacent ones of the same kind joined.
std::string spelled(const std::vector<OutputSegment>& segments) {
  static constexpr const char* kNames[] = {"text", "think", "begin", "args", "end", "reject"};
  std::string out;
  OutputSegmentKind last = OutputSegmentKind::tool_call_end;
  for (const OutputSegment& segment : segments) {
    const bool joins = segment.kind == last &&
                       (segment.kind == OutputSegmentKind::text || segment.kind == OutputSegmentKind::reasoning ||
                        segment.kind == OutputSegmentKind::tool_arguments);
    if (!joins) out += std::string(out.empty() ? "" : "|") + kNames[static_cast<size_t>(segment.kind)] + ":";
    if (!joins && segment.tool_index >= 0) out += std::to_string(segment.tool_index) + ":";
    out += segment.kind == OutputSegmentKind::rejected_tool_call ? segment.text : segment.tool_name + segment.text;
    last = segment.kind;
  }
  return out;
}

struct Setting {
  bool starts_in_reasoning = false;
  std::string tools = kTools;
};

std::string parse(const std::vector<std::string>& parts, const Setting& setting) {
  const ParserRef parser = make_parser(setting.starts_in_reasoning, setting.tools);
  std::vector<OutputSegment> all;
  const auto take = [&](OutputSegments segments) {
    CHECK_OK(segments.status);
    all.insert(all.end(), segments.segments.begin(), segments.segments.end());
  };
  for (const std::string& part : parts) take(parser->push(part));
  take(parser->finish());
  return spelled(all);
}

std::string parse_cut(const std::string& text) {
  const ParserRef parser = make_parser(false, kTools);
  std::vector<OutputSegment> all = parser->push(text).segments;
  for (OutputSegment& segment : parser->finish_cut().segments) all.push_back(std::move(segment));
  return spelled(all);
}

std::string call(const std::string& name, const std::string& parameters) {
  return "<tool_call>\n<function=" + name + ">\n" + parameters + "</function>\n</tool_call>";
}

std::string parameter(const std::string& name, const std::string& value) {
  return "<parameter=" + name + ">\n" + value + "\n</parameter>\n";
}

struct Row {
  std::string text, expected;
  Setting setting{};
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      // reasoning
      {"12+30\nis 42\n</think>\n\nThe sum is 42.", "think:12+30\nis 42|text:The sum is 42.", {true}},
      {"a < b </thin </think>x", "think:a < b </thin |text:x", {true}},
      {"never closed\n</thi", "think:never closed\n</thi", {true}},
      {"</think>\n\nat once", "text:at once", {true}},
      {"<think>\nhm\n</think>\n\nyes", "think:hm|text:yes"},
      {"plain <think> text", "text:plain <think> text"},
      {"  <thin", "text:  <thin"},
      {"x\r\n</think>\r\n\r\ny", "think:x|text:y", {true}},
      // text without calls
      {"a < b and <b>bold</b> </p>\n", "text:a < b and <b>bold</b> </p>\n"},
      {"<tool_call> without tools", "text:<tool_call> without tools", {false, ""}},
      // one call
      {call("get_weather", parameter("city", "Paris") + parameter("days", "3")),
       "begin:0:get_weather|args:0:{\"city\":\"Paris\",\"days\":3}|end:0:"},
      {"I look.\n\n" + call("now", "") + "\n", "text:I look.|begin:0:now|args:0:{}|end:0:"},
      {"think\n</think>\n\n" + call("now", ""), "think:think|begin:0:now|args:0:{}|end:0:", {true}},
      // several, with text between
      {call("now", "") + "\n" + call("now", "") + "\nand\n" + call("now", ""),
       "begin:0:now|args:0:{}|end:0:|begin:1:now|args:1:{}|end:1:|text:and|begin:2:now|args:2:{}|end:2:"},
      // types
      {call("get_weather", parameter("exact", "True") + parameter("limit", "2.50") +
                               parameter("where", "{\"a\": [1]}") + parameter("tags", "[\"x\"]") +
                               parameter("note", "null") + parameter("any", "[1, 2]") + parameter("mode", "a")),
       "begin:0:get_weather|args:0:{\"exact\":true,\"limit\":2.50,\"where\":{\"a\": "
       "[1]},\"tags\":[\"x\"],\"note\":null,"
       "\"any\":[1, 2],\"mode\":\"a\"}|end:0:"},
      // a value that does not convert stays a string
      {call("get_weather", parameter("days", "three") + parameter("where", "{broken") + parameter("note", "nullable") +
                               parameter("any", "free text") + parameter("new", "7")),
       "begin:0:get_weather|args:0:{\"days\":\"three\",\"where\":\"{broken\",\"note\":\"nullable\",\"any\":\"free "
       "text\","
       "\"new\":\"7\"}|end:0:"},
      // strings are kept byte for byte
      {call("write_file", parameter("path", " a b ") + parameter("content", "\n  x = \"1\"\\n\n\ttab \xe2\x82\xac\n")),
       "begin:0:write_file|args:0:{\"path\":\" a b \",\"content\":\"\\n  x = \\\"1\\\"\\\\n\\n\\ttab "
       "\xe2\x82\xac\\n\"}|end:0:"},
      {call("write_file", parameter("path", "") + "<parameter=content></parameter>\n"),
       "begin:0:write_file|args:0:{\"path\":\"\",\"content\":\"\"}|end:0:"},
      {call("write_file", parameter("content", "<a>\n<parameter>1</parameter>\n</a>\n</function> and <parameter=x")),
       "begin:0:write_file|args:0:{\"content\":\"<a>\\n<parameter>1</parameter>\\n</a>\\n</function> and "
       "<parameter=x\"}|end:0:"},
      {"<tool_call>\r\n<function=now>\r\n<parameter=a>\r\n1\r\n</parameter>\r\n</function>\r\n</tool_call>\r\n",
       "begin:0:now|args:0:{\"a\":\"1\"}|end:0:"},
      // a parameter that occurs twice counts once
      {call("write_file", parameter("path", "a") + parameter("path", "b")),
       "begin:0:write_file|args:0:{\"path\":\"a\"}|end:0:"},
      // missing parts
      {"<function=now>\n</function>", "begin:0:now|args:0:{}|end:0:"},
      {"<tool_call>\n<function=now>\n<parameter=a>\nx\n</parameter>\n</function>",
       "begin:0:now|args:0:{\"a\":\"x\"}|end:0:"},
      {"<tool_call>\n<function=now>\n<parameter=a>\nx\n</parameter>\n", "begin:0:now|args:0:{\"a\":\"x\"}|end:0:"},
      {"<tool_call>\n<function=now>\n<parameter=a>\nx", "begin:0:now|args:0:{\"a\":\"x\"}|end:0:"},
      {"<tool_call>\n<function=now>\n<parameter=a>\nx\n</param", "begin:0:now|args:0:{\"a\":\"x\"}|end:0:"},
      {"<tool_call>\n<function=now>\n<parameter=a>\nx\n<parameter=b>\ny\n</function>\n</tool_call>",
       "begin:0:now|args:0:{\"a\":\"x\",\"b\":\"y\"}|end:0:"},
      {"<tool_call>\n<function=now>\n<parameter=a>\nx\n</parameter>\n</tool_call>\nok",
       "begin:0:now|args:0:{\"a\":\"x\"}|end:0:|text:ok"},
      {"<tool_call>\n<function=now\n<parameter=a\nx</parameter></function></tool_call>",
       "begin:0:now|args:0:{\"a\":\"x\"}|end:0:"},
      {"<tool_call><function=now</function></tool_call>", "begin:0:now|args:0:{}|end:0:"},
      {"<tool_call><function=\"now\"></function></tool_call>", "begin:0:now|args:0:{}|end:0:"},
      {"<tool_call><function=now><function=now></tool_call>",
       "begin:0:now|args:0:{}|end:0:|begin:1:now|args:1:{}|end:1:"},
      {"a</tool_call>b", "text:ab"},
      {"text <tool_ca", "text:text|reject:<tool_ca"},
      {"text <", "text:text <"},
      // rejected
      {"x " + call("rm", parameter("a", "1")) + " y",
       "text:x|reject:<tool_call>\n<function=rm>\n<parameter=a>\n1\n</parameter>\n</function>|text:y"},
      {"<tool_call> is a tag", "reject:<tool_call>|text: is a tag"},
      {"<tool_call>\n</tool_call>done", "reject:<tool_call>|text:done"},
      // JSON
      {"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"P{a}r\\\"is\", \"days\": "
       "3}}\n</tool_call>",
       "begin:0:get_weather|args:0:{\"city\":\"P{a}r\\\"is\",\"days\":3}|end:0:"},
      {"<tool_call>{\"arguments\": {\"a\": [1, {}]}, \"name\": \"now\"}</tool_call>",
       "begin:0:now|args:0:{\"a\":[1,{}]}|end:0:"},
      {"<tool_call>{\"name\": \"now\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call>",
       "begin:0:now|args:0:{\"a\": 1}|end:0:"},
      {"<tool_call>{\"name\": \"now\"}</tool_call>\nthen", "begin:0:now|args:0:{}|end:0:|text:then"},
      {"<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": 1}", "begin:0:now|args:0:{\"a\":1}|end:0:"},
      {"<tool_call>{\"name\": \"rm\", \"arguments\": {}}</tool_call>", "reject:{\"name\": \"rm\", \"arguments\": {}}"},
      {"<tool_call>{\"arguments\": {}}</tool_call>", "reject:{\"arguments\": {}}"},
      // calls inside thinking
      {"I call\n" + call("now", "") + "\nmore\n</think>\n\nend",
       "think:I call|begin:0:now|args:0:{}|end:0:|think:more|text:end",
       {true}},
      {"a <tool_call> is markup, <tool_call>\n<function=rm> too\n</think>x",
       "think:a <tool_call> is markup, <tool_call>\n<function=rm> too|text:x",
       {true}},
      {"now\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>",
       "think:now|begin:0:now|args:0:{}|end:0:",
       {true}},
      {"a <tool_call>{\"x\"", "think:a <tool_call>{\"x\"", {true}},
  };
  return kRows;
}

std::vector<std::string> cut(const std::string& text, std::vector<size_t> cuts) {
  cuts.push_back(text.size());
  std::ranges::sort(cuts);
  std::vector<std::string> parts;
  size_t begin = 0;
  for (const size_t end : cuts) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

}  // namespace

PAGODA_TEST(output_parser_any_cut_gives_the_same_segments) {
  std::mt19937_64 random(seed(5));
  for (const Row& row : rows()) {
    // JSON calls are rejected with their wrapper.
    const bool wrapped = row.expected.starts_with("reject:{");
    const std::string expected = wrapped ? "reject:<tool_call>" + row.expected.substr(7) : row.expected;
    CHECK_EQ(parse({row.text}, row.setting), expected);
    if (failed()) return note(row.text);
    std::vector<size_t> every;
    for (size_t i = 1; i < row.text.size(); ++i) {
      every.push_back(i);
      CHECK_EQ(parse(cut(row.text, {i}), row.setting), expected);
    }
    CHECK_EQ(parse(cut(row.text, every), row.setting), expected);
    for (int i = 0; i < 20; ++i) {
      std::vector<size_t> cuts;
      for (uint64_t n = random() % 6; n-- > 0;) cuts.push_back(random() % (row.text.size() + 1));
      CHECK_EQ(parse(cut(row.text, cuts), row.setting), expected);
    }
    if (failed()) return note(row.text);
  }
}

// Random mixtures of tags, values and noise: equal for all splits, arguments always JSON, markup never in text.
PAGODA_TEST(output_parser_random_mixtures_keep_the_promises) {
  const std::vector<std::string> words = {"<tool_call>",
                                          "</tool_call>",
                                          "<function=",
                                          "now",
                                          "get_weather",
                                          ">",
                                          "\n",
                                          "<parameter=",
                                          "city",
                                          "days",
                                          "7",
                                          "</parameter>",
                                          "</function>",
                                          "<think>",
                                          "</think>",
                                          "{\"name\": \"now\", \"arguments\": {",
                                          "\"a\": 1",
                                          "}}",
                                          "}",
                                          " ",
                                          "<",
                                          "text",
                                          "\"",
                                          "\\",
                                          "\xe2\x82\xac",
                                          "\xff",
                                          "\r\n",
                                          "</",
                                          "note",
                                          "null",
                                          ","};
  std::mt19937_64 random(seed(17));
  for (int round = 0; round < 4000 && !failed(); ++round) {
    std::string text;
    for (uint64_t n = random() % 24; n-- > 0;) text += words[random() % words.size()];
    const Setting setting{random() % 3 == 0, kTools};
    const std::string whole = parse({text}, setting);
    std::vector<size_t> every, some;
    for (size_t i = 1; i < text.size(); ++i) every.push_back(i);
    for (int i = 0; i < 3; ++i) some.push_back(random() % (text.size() + 1));
    CHECK_EQ(parse(cut(text, every), setting), whole);
    CHECK_EQ(parse(cut(text, some), setting), whole);
    const ParserRef parser = make_parser(setting.starts_in_reasoning, kTools);
    std::string arguments, answer;
    std::vector<OutputSegment> segments = parser->push(text).segments;
    for (OutputSegment& segment : parser->finish().segments) segments.push_back(std::move(segment));
    for (const OutputSegment& segment : segments) {
      if (segment.kind == OutputSegmentKind::text) answer += segment.text;
      if (segment.kind == OutputSegmentKind::tool_call_begin) arguments.clear();
      if (segment.kind == OutputSegmentKind::tool_arguments) arguments += segment.text;
      const bool is_utf8 = text.find('\xff') == std::string::npos;
      if (segment.kind == OutputSegmentKind::tool_call_end && is_utf8) CHECK_OK(io::parse_json(arguments));
    }
    for (const char* tag : {"<tool_call>", "</tool_call>", "<function=", "</function>"})
      CHECK(answer.find(tag) == std::string::npos || text.find(std::string("</") + tag) != std::string::npos);
    if (failed()) note(text);
  }
}

PAGODA_TEST(output_parser_holds_back_no_more_than_it_must) {
  const ParserRef parser = make_parser(false, kTools);
  CHECK_EQ(spelled(parser->push("Hello <b").segments), "text:Hello <b");
  CHECK_EQ(spelled(parser->push(" x <to").segments), "text: x");
  CHECK_EQ(spelled(parser->push("p> ").segments), "text: <top>");
  CHECK_EQ(spelled(parser->push("<tool_call><function=write_file><parameter=content>").segments), "begin:0:write_file");
  CHECK_EQ(spelled(parser->push("\nline one\n").segments), "args:0:{\"content\":\"line one");
  CHECK_EQ(spelled(parser->push("line < two").segments), "args:0:\\nline < two");
  CHECK_EQ(spelled(parser->push("</parameter>").segments), "");
  CHECK_EQ(spelled(parser->push("\n</function>").segments), "args:0:\"}|end:0:");
}

PAGODA_TEST(output_parser_long_values_take_linear_time) {
  const ParserRef parser = make_parser(false, kTools);
  (void)parser->push("<tool_call><function=write_file><parameter=content>\n");
  size_t num_bytes = 0;
  for (int i = 0; i < 200'000; ++i) {
    for (const OutputSegment& segment : parser->push(i % 3 == 0 ? "<" : i % 3 == 1 ? "\n" : "x").segments)
      num_bytes += segment.text.size();
  }
  CHECK(num_bytes > 200'000);
  CHECK_EQ(spelled(parser->push("</parameter></function></tool_call>").segments), "args:0:\"}|end:0:");
}

PAGODA_TEST(output_parser_refuses_tools_that_are_none) {
  Status status;
  CHECK(make_output_parser({true, false, "{}"}, &status) == nullptr && status.code == StatusCode::invalid_argument);
  CHECK(make_output_parser({true, false, "["}, &status) == nullptr);
  const ParserRef none = make_parser(false, "[]", /*splits=*/false);
  CHECK_EQ(spelled(none->push("<think>\n<tool_call>").segments), "text:<think>\n<tool_call>");
}

PAGODA_TEST(output_parser_makes_no_call_of_a_cut_one) {
  const std::string whole = call("get_weather", parameter("city", "New York"));
  const size_t name_end = whole.find('>', whole.find("<function=")) + 1, call_end = whole.find("</function>") + 11;
  for (size_t size = whole.find("<function="); size <= whole.size(); ++size) {
    const std::string seen = parse_cut(whole.substr(0, size));
    const bool has_end = seen.find("end:0") != std::string::npos;
    CHECK_EQ(has_end, size >= call_end);
    CHECK_EQ(seen.find("reject:") != std::string::npos, size < call_end);
    if (size >= name_end) CHECK(seen.starts_with("begin:0:get_weather"));
  }
  const std::string json = "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": 1}}";
  CHECK(parse_cut(json.substr(0, json.size() - 1)).find("end:0") == std::string::npos);
  CHECK_EQ(parse_cut(json), "begin:0:now|args:0:{\"a\":1}|end:0:");
  CHECK_EQ(parse_cut("plain text"), "text:plain text");
}

}  // namespace pagoda::test
