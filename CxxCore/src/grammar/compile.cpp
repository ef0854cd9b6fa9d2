// Reads the schema within its limits and hands it to the compiler.
#include "grammar/compile.h"

#include <string>

#include "base/json.h"
#include "base/quoted.h"
#include "grammar/schema_compiler.h"
#include "grammar/tool_calls.h"

namespace pagoda::grammar {

Result<Grammar> compile(const GrammarSpec& spec) {
  if (spec.kind == "json_object") return SchemaCompiler::compile_any_object();
  if (spec.kind != "json_schema" && spec.kind != "tool_calls")
    return make_error(StatusCode::invalid_argument,
                      "grammar kind " + io::quoted(spec.kind) + " is neither json_object, json_schema nor tool_calls");
  if (spec.schema.size() > kMaxSchemaBytes)
    return make_error(StatusCode::invalid_argument, "the schema has " + std::to_string(spec.schema.size()) +
                                                        " bytes; at most " + std::to_string(kMaxSchemaBytes) +
                                                        " are allowed");
  const Result<io::Json> schema = io::parse_json(spec.schema);
  if (!schema.is_ok())
    return make_error(StatusCode::invalid_argument, "the schema is not JSON: " + schema.status.message);
  return spec.kind == "tool_calls" ? compile_tool_calls(*schema) : SchemaCompiler::compile(*schema);
}

}  // namespace pagoda::grammar
