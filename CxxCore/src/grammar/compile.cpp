// Reads the schema within its limits and hands it to the compiler.
#include "grammar/compile.h"

#include "base/concat.h"
#include "base/json.h"
#include "grammar/gbnf.h"
#include "grammar/schema/compiler.h"
#include "grammar/text_grammar.h"
#include "grammar/tool_calls.h"

namespace pagoda::grammar {

Result<Grammar> compile(const GrammarSpec& spec) {
  CompileBudget budget;
  return compile(spec, budget);
}

static Result<Grammar> compile_json(const GrammarSpec& spec, CompileBudget& budget) {
  const Result<io::Json> json = io::parse_json(spec.schema);
  if (!json.is_ok()) return make_error(StatusCode::invalid_argument, "the schema is not JSON: " + json.status.message);
  if (spec.kind == GrammarKind::choice) return compile_choice(*json, budget);
  return spec.kind == GrammarKind::tool_calls ? compile_tool_calls(*json, budget)
                                              : SchemaCompiler::compile(*json, budget);
}

Result<Grammar> compile(const GrammarSpec& spec, CompileBudget& budget) {
  if (spec.schema.size() > kMaxSchemaBytes)
    return make_error(StatusCode::invalid_argument, concat("the schema has ", spec.schema.size(), " bytes; at most ",
                                                           kMaxSchemaBytes, " are allowed"));
  switch (spec.kind) {
    case GrammarKind::none: break;
    case GrammarKind::json_object: return SchemaCompiler::compile_any_object(budget);
    case GrammarKind::regex: return compile_regex(spec.schema, budget);
    case GrammarKind::gbnf: return compile_gbnf(spec.schema, budget);
    case GrammarKind::json_schema:
    case GrammarKind::tool_calls:
    case GrammarKind::choice: return compile_json(spec, budget);
  }
  return make_error(StatusCode::invalid_argument, "the grammar has no kind");
}

}  // namespace pagoda::grammar
