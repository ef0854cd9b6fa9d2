// Parses tools in the format of OpenAI's API, and converts argument values according to their schemas.
#include "text/output/tool_list.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pagoda::text {

using io::Json;

namespace {

constexpr int kMaxSchemaSteps = 8;  // nested anyOf

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

void add_type(std::string_view type, ParameterKind& kind) {
  if (type == "string") kind.may_be_string = true;
  else if (type == "null") kind.may_be_null = true;
  else kind.may_be_json = true;
}

// Adds the types a schema names; returns false if it names none.
bool add_types(const Json& schema, int steps, ParameterKind& kind) {
  bool any = false;
  if (const Json* type = schema.find("type")) {
    if (type->is_string()) add_type(type->as_string(), kind), any = true;
    for (const Json& item : type->items()) add_type(item.as_string(), kind), any = true;
  }
  for (const char* keyword : {"anyOf", "oneOf", "allOf"}) {
    const Json* parts = steps < kMaxSchemaSteps ? schema.find(keyword) : nullptr;
    if (!parts) continue;
    for (const Json& part : parts->items()) any |= add_types(part, steps + 1, kind);
  }
  if (const Json* values = schema.find("enum"); values && !any) {
    for (const Json& value : values->items()) {
      add_type(value.is_string() ? "string" : value.is_null() ? "null" : "number", kind);
      any = true;
    }
  }
  const Json* nullable = schema.find("nullable");
  kind.may_be_null |= nullable && nullable->as_bool();
  return any;
}

}  // namespace

Result<ToolList> ToolList::parse(std::string_view tools_json) {
  ToolList list;
  std::vector<Json> functions;
  if (!tools_json.empty()) {
    const Result<Json> tools = io::parse_json(tools_json);
    if (!tools.is_ok()) return make_error(StatusCode::invalid_argument, "tools: " + tools.status.message);
    if (!tools->is_array()) return make_error(StatusCode::invalid_argument, "tools is not an array");
    for (const Json& tool : tools->items()) {
      const Json* function = tool.find("function");
      if (!function) function = &tool;
      const Json* name = function->find("name");
      if (name && name->is_string() && !name->as_string().empty()) functions.push_back(*function);
    }
  }
  list.functions_ = Json::make_array(std::move(functions));
  return list;
}

const Json* ToolList::find(std::string_view name) const noexcept {
  for (const Json& function : functions_.items()) {
    if (function.find("name")->as_string() == name) return &function;
  }
  return nullptr;
}

ParameterKind ToolList::parameter(std::string_view tool, std::string_view name) const {
  const Json* at = find(tool);
  for (const std::string_view step : {std::string_view("parameters"), std::string_view("properties"), name}) {
    if (at) at = at->find(step);
  }
  return at ? parameter_kind(*at) : ParameterKind();
}

ParameterKind parameter_kind(const Json& schema) {
  ParameterKind kind{.may_be_string = false};
  if (!add_types(schema, 0, kind))
    kind.may_be_json = kind.may_be_null = true;  // declared without a type: guess from the text
  return kind;
}

std::string convert_value(std::string_view text, const ParameterKind& kind) {
  std::string value(trimmed(text));
  if (value == "None") value = "null";
  if (value == "True") value = "true";
  if (value == "False") value = "false";
  if (value == "null") return kind.may_be_null ? value : std::string();
  if (!kind.may_be_json || kind.may_be_string) return {};
  const Result<Json> json = io::parse_json(value);
  return json.is_ok() && !json->is_string() ? value : std::string();
}

}  // namespace pagoda::text
