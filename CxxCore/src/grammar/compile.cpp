// Reads the schema within its limits and hands it to the compiler.
#include "grammar/compile.h"

#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/json.h"
#include "base/quoted.h"
#include "grammar/gbnf.h"
#include "grammar/schema/compiler.h"
#include "grammar/text_grammar.h"
#include "grammar/tool_calls.h"

namespace pagoda::grammar {

Result<Grammar> compile(const GrammarSpec& spec) {
  CompileBudget budget;
  return compile(spec, budget);
}

Result<Grammar> compile(const GrammarSpec& spec, CompileBudget& budget) {
  if (spec.kind == "json_object") return SchemaCompiler::compile_any_object(budget);
  const std::string_view kind = spec.kind;
  const bool is_text = kind == "regex" || kind == "gbnf";
  if (!is_text && kind != "json_schema" && kind != "tool_calls" && kind != "choice")
    return make_error(StatusCode::invalid_argument,
                      "grammar kind " + io::quoted(spec.kind) +
                          " is none of json_object, json_schema, tool_calls, regex, choice and gbnf");
  if (spec.schema.size() > kMaxSchemaBytes)
    return make_error(StatusCode::invalid_argument, concat("the schema has ", spec.schema.size(), " bytes; at most ",
                                                           kMaxSchemaBytes, " are allowed"));
  if (is_text) return kind == "regex" ? compile_regex(spec.schema, budget) : compile_gbnf(spec.schema, budget);
  const Result<io::Json> schema = io::parse_json(spec.schema);
  if (!schema.is_ok())
    return make_error(StatusCode::invalid_argument, "the schema is not JSON: " + schema.status.message);
  if (kind == "choice") return compile_choice(*schema, budget);
  return kind == "tool_calls" ? compile_tool_calls(*schema, budget) : SchemaCompiler::compile(*schema, budget);
}

}  // namespace pagoda::grammar
