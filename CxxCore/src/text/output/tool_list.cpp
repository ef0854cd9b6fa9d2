// Parses tools in the format of OpenAI's API, and converts argument values according to their schemas.
#include "text/output/tool_list.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pagoda::text {

using io::Json;

namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
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
  const Json* function = find(tool);
  const Json* schema = function ? function->find("parameters") : nullptr;
  return schema ? parameter_kind(*schema, name) : ParameterKind();
}

std::string convert_value(std::string_view text, const ParameterKind& kind) {
  std::string value(trimmed(text));
  if (value == "None") value = "null";
  if (value == "True") value = "true";
  if (value == "False") value = "false";
  if (value == "null") return kind.may_be_null ? value : std::string();
  if (std::ranges::find(kind.listed, value) != kind.listed.end()) return value;
  if (!kind.may_be_json || kind.may_be_string) return {};
  io::JsonLimits limits;
  limits.reject_duplicate_keys = false;  // the client's parser takes one of them
  const Result<Json> json = io::parse_json(value, limits);
  return json.is_ok() && !json->is_string() ? value : std::string();
}

}  // namespace pagoda::text
