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
  return message.find("too large") != std::string::npos || message.find("ms to compile") != std::string::npos;
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

// Many members that each refer to one pattern compile it once.
PAGODA_TEST(grammar_a_repeated_pattern_is_compiled_once) {
  std::string schema = R"({"type": "object", "properties": {)";
  for (int i = 0; i < 300; ++i)
    schema +=
        (i == 0 ? "\"p" : ", \"p") + std::to_string(i) + R"~(": {"type": "string", "pattern": "^(a|b)*a(a|b){6}$"})~";
  CHECK_EQ(compile_within_limits({GrammarKind::json_schema, schema + "}}"}), std::string());
}

}  // namespace pagoda::test
