// Constraints that ask for much work or memory in a short text: both stay within their budget.
#include <string>
#include <vector>

#include "grammar/automaton.h"
#include "grammar/compile.h"
#include "support/allocations.h"
#include "support/test.h"

namespace pagoda::test {

namespace {

constexpr int64_t kMaxPeakBytes = 160 << 20;

// Compiles and checks the peak of memory and the steps; the message, empty if it compiled.
std::string compile_within_limits(const GrammarSpec& spec) {
  grammar::CompileBudget budget;
  const PeakMemory peak;
  const auto compiled = grammar::compile(spec, budget);
  if (can_replace_allocations()) CHECK(peak.num_bytes() < kMaxPeakBytes);
  CHECK(budget.num_steps() <= 2 * grammar::CompileBudget::kMaxSteps);
  if (!compiled.is_ok()) CHECK(compiled.status.code == StatusCode::invalid_argument);
  note(std::to_string(peak.num_bytes() >> 20) + " MiB, " + std::to_string(budget.num_steps()) + " steps, " +
       std::to_string(budget.num_merged_nodes()) + " nodes: " + spec.schema.substr(0, 60));
  return compiled.status.message;
}

// Which part of the budget ends first depends on the processor: a slow one spends its time before it reaches the size.
bool is_over_budget(const std::string& message) {
  return message.find("too large") != std::string::npos || message.find("ms to compile") != std::string::npos ||
         message.find("takes too long") != std::string::npos;
}

std::string all_of(int count, const std::string& begin, const std::string& end) {
  std::string schema = R"({"allOf": [)";
  for (int i = 0; i < count; ++i) schema += (i == 0 ? "" : ",") + begin + std::to_string(i) + end;
  return schema + "]}";
}

}  // namespace

PAGODA_TEST(grammar_a_thousand_schemas_that_apply_together_cost_their_size) {
  const std::string notes(180, 'x');
  const std::string objects = all_of(1000, R"({"type": "object", "properties": {"p)",
                                     R"(": {"type": "string", "description": ")" + notes + R"("}}})");
  CHECK(objects.size() > 260'000);
  CHECK_EQ(compile_within_limits({GrammarKind::json_schema, objects}), std::string());
  CHECK_EQ(
      compile_within_limits(
          {GrammarKind::tool_calls,
           R"({"format":"xml","mode":"required","tools":[{"name":"f","strict":true,"parameters":)" + objects + "}]}"}),
      std::string());
  // Each schema constrains the members of all others.
  const std::string crossed = all_of(
      1000, R"({"type": "object", "additionalProperties": {"type": "string", "maxLength": 99}, "properties": {"p)",
      R"(": {"type": "string", "description": ")" + notes + R"("}}})");
  CHECK(is_over_budget(compile_within_limits({GrammarKind::json_schema, crossed})));
  // Copies of the whole for every alternative.
  std::string alternatives = R"({"properties": {)";
  for (int i = 0; i < 2000; ++i)
    alternatives += (i == 0 ? "\"m" : ", \"m") + std::to_string(i) + R"(": {"type": "null"})";
  alternatives += R"(}, "anyOf": [)";
  for (int i = 0; i < 2000; ++i)
    alternatives += (i == 0 ? "" : ",") + (R"({"required": ["m)" + std::to_string(i) + "\"]}");
  CHECK(is_over_budget(compile_within_limits({GrammarKind::json_schema, alternatives + "]}"})));
}

PAGODA_TEST(grammar_expensive_expressions_are_refused_within_the_budget) {
  std::string wide = "^(?:(?:";
  for (int i = 0; i < 300; ++i) {
    const int c = 0x4E00 + 2 * i;
    wide += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
             static_cast<char>(0x80 | (c & 0x3F))};
    wide += i < 299 ? "|" : "";
  }
  wide += "|a)*|[\\s\\S]*a[\\s\\S]{11})$";
  CHECK(!compile_within_limits({GrammarKind::regex, wide}).empty());
  CHECK(!compile_within_limits({GrammarKind::json_schema,
                                R"({"anyOf": [{"pattern": "(a|b)*a(a|b){10}"}, {"pattern": "(a|b)*a(a|b){20}"}]})"})
             .empty());
  std::string set = "[";
  for (int i = 0; i < 1200; ++i) {
    const int c = 0x4E00 + 2 * i;
    set += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
            static_cast<char>(0x80 | (c & 0x3F))};
  }
  CHECK(!compile_within_limits({GrammarKind::regex, set + "]{9000}"}).empty());
  // Space in a part that is repeated is read for every copy.
  const std::string comment = "#" + std::string(200'000, ' ') + "\n";
  CHECK(!compile_within_limits({GrammarKind::gbnf, "root ::= (\"a\" " + comment + "){9999}"}).empty());
  // Rules that may be empty, each found after the last.
  std::string rules = "root ::= r0 \"x\"\n";
  for (int i = 0; i < 3000; ++i) rules += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + " | \"y\"\n";
  compile_within_limits({GrammarKind::gbnf, rules + "r3000 ::= \"\""});
}

namespace {

// "PREFIX0SUFFIX,PREFIX1SUFFIX..."
std::string numbered(int count, const std::string& prefix, const std::string& suffix) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + prefix + std::to_string(i) + suffix;
  return list;
}

}  // namespace

// Each of these compared every part with every other one without counting it.
PAGODA_TEST(grammar_comparisons_of_values_names_and_patterns_are_part_of_the_budget) {
  const std::string text(150'000, 'x');
  CHECK(is_over_budget(compile_within_limits(
      {GrammarKind::json_schema, R"({"enum": [{"a": ")" + text + R"("}], "properties": {"a": {"anyOf": [)" +
                                     numbered(20'000, R"({"enum": [)", "]}") + "]}}}"})));
  const std::string names(60, 'p');
  const std::string patterns = R"("patternProperties": {)" + numbered(2500, R"("^p*q)", R"($": {})") + "}";
  const std::string members = "{" + numbered(2500, '"' + names, R"(": {})") + "}";
  CHECK(is_over_budget(
      compile_within_limits({GrammarKind::json_schema, R"({"properties": )" + members + "," + patterns + "}"})));
  CHECK(is_over_budget(
      compile_within_limits({GrammarKind::json_schema, R"({"enum": [)" + members + "]," + patterns + "}"})));
  const std::string others = "{" + numbered(12'000, R"("q)", R"(": {})") + "}";
  const std::string own = "{" + numbered(12'000, R"("p)", R"(": {})") + "}";
  CHECK(is_over_budget(compile_within_limits(
      {GrammarKind::json_schema, R"({"enum": [)" + own + R"(], "properties": )" + others + "}"})));
  const std::string types = R"({"type": [)" + numbered(14'000, "\"a", "\"") + "]}";
  CHECK(compile_within_limits({GrammarKind::json_schema, R"({"allOf": [)" + types + "," + types + "]}"})
            .find("16 names") != std::string::npos);
}

// The text of `const` was written for every value of `enum`, in allocations of its own.
PAGODA_TEST(grammar_a_long_const_beside_many_values_is_written_once) {
  const std::string schema =
      R"({"const": ")" + std::string(200'000, 'x') + R"(", "enum": [)" + numbered(30'000, "", "") + "]}";
  const FailingAllocation one_too_many(10'000);
  const auto compiled = grammar::compile({GrammarKind::json_schema, schema});
  CHECK(!FailingAllocation::has_failed());
  CHECK(compiled.status.message.find("no value of 'const'") != std::string::npos);
}

// Every rule keeps the path of its schema.
PAGODA_TEST(grammar_long_names_are_not_copied_for_every_rule) {
  const std::string name(90'000, 'A');
  const std::string arrays = numbered(2500, "\"a", R"(": {"type": "array", "items": {}})");
  compile_within_limits(
      {GrammarKind::json_schema, R"({"properties": {")" + name + R"(": {"properties": {)" + arrays + "}}}}"});
  const std::string bad = R"({"properties": {"a\u001b[2J)" + name + R"(": {"type": "alien"}}})";
  const std::string message = compile_within_limits({GrammarKind::json_schema, bad});
  CHECK(message.find("alien") != std::string::npos && message.size() < 1000);
  CHECK(compile_within_limits({GrammarKind::json_schema, R"({"properties": {"a\u001b[2J": {"type": "alien"}}})"})
            .find("/properties/a?[2J:") != std::string::npos);
}

// The kinds of parameters are found before the rest is compiled; references lead to one list again and again.
PAGODA_TEST(grammar_kinds_of_parameters_are_found_within_the_budget) {
  const auto compile = [](const std::string& properties, const std::string& defs) {
    return compile_within_limits(
        {GrammarKind::tool_calls,
         R"({"format":"xml","mode":"required","tools":[{"name":"f","strict":true,"parameters":)"
         R"({"properties":{)" +
             properties + R"(},"$defs":{)" + defs + "}}}]}"});
  };
  std::string references;
  for (int i = 0; i < 1000; ++i) references += (i == 0 ? "" : ",") + std::string(R"({"$ref":"#/$defs/e"})");
  const std::string list = R"("e":{"enum":[)" + numbered(20'000, "", "") + "]}";
  for (const char* keyword : {"allOf", "anyOf"}) {
    const std::string message = compile(R"("p":{")" + std::string(keyword) + R"(":[)" + references + "]}", list);
    CHECK(message.find("too many alternatives") != std::string::npos);
  }
  std::string types;
  for (int i = 0; i < 20'000; ++i) types += i == 0 ? R"("integer")" : R"(,"integer")";
  CHECK(!compile(R"("p":{"type":[)" + types + R"(],"enum":[)" + numbered(20'000, "", "") + "]}", "").empty());
  const std::string open = R"("x":{"allOf":[)" + references + R"(]},"e":{})";
  CHECK(is_over_budget(compile(numbered(4000, R"("p)", R"(":{"$ref":"#/$defs/x"})"), open)));
}

// Many members that each refer to one pattern compile it once.
PAGODA_TEST(grammar_a_repeated_pattern_is_compiled_once) {
  std::string schema = R"({"type": "object", "properties": {)";
  for (int i = 0; i < 300; ++i)
    schema +=
        (i == 0 ? "\"p" : ", \"p") + std::to_string(i) + R"~(": {"type": "string", "pattern": "^(a|b)*a(a|b){6}$"})~";
  CHECK_EQ(compile_within_limits({GrammarKind::json_schema, schema + "}}"}), std::string());
}

}  // namespace pagoda::test
