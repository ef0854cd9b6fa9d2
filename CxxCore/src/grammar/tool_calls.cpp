// Wraps the schemas of the tools in call markup, and combines the calls to a document.
#include "grammar/tool_calls.h"

#include <array>
#include <string>

#include "base/assign_or_return.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "grammar/free_text.h"
#include "grammar/parameter_text.h"
#include "grammar/schema/compiler.h"

namespace pagoda::grammar {
namespace {

using io::Json;

constexpr std::string_view kCall = "<tool_call>", kCallEnd = "\n</tool_call>";
constexpr int kMaxLeadingNewlines = 2;

class CallCompiler {
 public:
  CallCompiler(const Json& spec, CompileBudget& budget)
      : spec_(spec), is_xml_(text("format") == "xml"), is_forced_(text("mode") == "required"), builder_(budget) {}

  Result<Grammar> compile() {
    const Json* tools = spec_.find("tools");
    if (!tools || tools->items().empty()) return make_error(StatusCode::invalid_argument, "there are no tools to call");
    const Rule document = builder_.add_rule(), calls = builder_.add_rule();
    PAGODA_RETURN_IF_ERROR(add_calls(tools->items(), calls));
    PAGODA_RETURN_IF_ERROR(add_document(document, calls));
    Result<Grammar> grammar = builder_.build(document);
    if (grammar.is_ok()) grammar->allow_markup();
    return grammar;
  }

 private:
  std::string text(const char* key) const {
    const Json* value = spec_.find(key);
    return value && value->is_string() ? value->as_string() : std::string();
  }

  static bool flag(const Json& object, const char* key) {
    const Json* value = object.find(key);
    return value && value->is_bool() && value->as_bool();
  }

  // `calls` starts after the first <tool_call>.
  Status add_calls(const std::vector<Json>& tools, Rule calls) {
    const int32_t frame = builder_.add_byte(calls.start, '\n', '\n'), frame_end = builder_.add_state();
    for (const Json& tool : tools) {
      const Json* name = tool.find("name");
      if (!name || !name->is_string()) return make_error(StatusCode::invalid_argument, "a tool has no name");
      PAGODA_ASSIGN_OR_RETURN(Rule arguments, arguments_of(tool, name->as_string()));
      std::string quoted;
      io::append_json_string(name->as_string(), quoted);
      const int32_t from = builder_.add_literal(
          frame, is_xml_ ? "<function=" + name->as_string() + ">\n" : "{\"name\": " + quoted + ", \"arguments\": ");
      const int32_t to = builder_.add_call(from, arguments);
      builder_.add_literal(to, is_xml_ ? "</function>" : "}", frame_end);
    }
    const int32_t end = builder_.add_literal(frame_end, kCallEnd);
    builder_.add_jump(end, calls.end);
    const Json* parallel = spec_.find("parallel");
    if (!parallel || parallel->as_bool()) builder_.add_literal(end, "\n" + std::string(kCall), calls.start);
    return ok_status();
  }

  // A schema that cannot be enforced is an error only in strict mode.
  Result<Rule> arguments_of(const Json& tool, const std::string& name) {
    static const Json kNone =
        Json::make_object({{"type", Json::make_string("object")}, {"properties", Json::make_object({})}});
    const bool is_strict = flag(tool, "strict");
    const Json* schema = tool.find("parameters");
    if (is_strict || is_forced_) {
      SchemaCompiler compiler(schema && schema->is_object() ? *schema : kNone, builder_);
      Result<Rule> rule = is_xml_ ? compiler.compile_parameters() : compiler.compile_value();
      if (rule.is_ok()) return rule;
      if (is_strict)
        return make_error(StatusCode::invalid_argument, "tool " + io::quoted(name) + ": " + rule.status.message);
    }
    return is_xml_ ? any_parameters() : any_object();
  }

  Rule any_parameters() {
    const Rule rule = builder_.add_rule();
    builder_.add_jump(rule.start, rule.end);
    const int32_t name = builder_.add_literal(rule.start, "<parameter="), more = builder_.add_state();
    for (const auto& [low, high] : {std::pair('0', '9'), {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {'-', '.'}}) {
      for (const int32_t from : {name, more})
        builder_.add_bytes(from, static_cast<uint8_t>(low), static_cast<uint8_t>(high), more);
    }
    const ParameterSlot value = add_parameter_frame(builder_, builder_.add_literal(more, ">"), rule.start);
    builder_.add_call(value.from, add_any_text(builder_), value.to);
    return rule;
  }

  Result<Rule> any_object() {
    static const Json kAny =
        Json::make_object({{"type", Json::make_string("object")}, {"additionalProperties", Json::make_bool(true)}});
    if (any_rule_.start >= 0) return any_rule_;
    Result<Rule> rule = SchemaCompiler(kAny, builder_).compile_value();
    if (rule.is_ok()) any_rule_ = *rule;
    return rule;
  }

  Status add_document(Rule document, Rule calls) {
    const int32_t behind_tag = builder_.add_state();
    builder_.add_call(behind_tag, calls, document.end);
    const Json* value = spec_.find("value");
    if (!is_forced_ && !value) {
      const std::array<EndWord, 4> words{
          {{kCall, behind_tag}, {"</tool_call", -1}, {"<function=", -1}, {"</function", -1}}};
      add_free_text(builder_, document.start, words, document.end);
      return ok_status();
    }
    Rule answer;
    if (value && !is_forced_) {
      Result<Rule> rule = SchemaCompiler(*value, builder_).compile_value();
      // Not about the tools: this is the form of an answer without a call.
      if (!rule.is_ok()) return make_field_error(rule.status.code, "grammar", std::move(rule.status.message));
      answer = *rule;
    }
    int32_t from = document.start;
    for (int i = 0; i <= kMaxLeadingNewlines; ++i) {
      if (i > 0) from = builder_.add_byte(from, '\n', '\n');
      builder_.add_literal(from, kCall, behind_tag);
      if (answer.start >= 0) builder_.add_call(from, answer, document.end);
    }
    return ok_status();
  }

  const Json& spec_;
  const bool is_xml_, is_forced_;
  GrammarBuilder builder_;
  Rule any_rule_;
};

}  // namespace

Result<Grammar> compile_tool_calls(const Json& spec, CompileBudget& budget) {
  return CallCompiler(spec, budget).compile();
}

}  // namespace pagoda::grammar
