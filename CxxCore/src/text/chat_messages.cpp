// Rewrites `messages` of a template's variables, and finds out by trial in which form the template expects arguments.
#include "text/chat_messages.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"

namespace pagoda::text {
namespace {

using io::Json;
using io::JsonMember;

Json with(const Json& object, std::string_view key, Json value) {
  std::vector<JsonMember> members = object.members();
  const auto found = std::ranges::find_if(members, [&](const JsonMember& member) { return member.first == key; });
  if (found != members.end()) found->second = std::move(value);
  else members.emplace_back(std::string(key), std::move(value));
  return Json::make_object(std::move(members));
}

// Writes JSON like Python's json.dumps, which models have seen in training.
void append_spaced(const Json& value, std::string& out) {
  if (!value.is_array() && !value.is_object()) return io::append_json(value, out);
  const bool is_object = value.is_object();
  out += is_object ? '{' : '[';
  bool is_first = true;
  const auto separate = [&] { out += std::exchange(is_first, false) ? "" : ", "; };
  for (const Json& item : value.items()) {
    separate();
    append_spaced(item, out);
  }
  for (const auto& [key, item] : value.members()) {
    separate();
    io::append_json_string(key, out);
    out += ": ";
    append_spaced(item, out);
  }
  out += is_object ? '}' : ']';
}

Json converted(const Json& arguments, bool as_text) {
  if (as_text && !arguments.is_string()) {
    std::string text;
    append_spaced(arguments, text);
    return Json::make_string(std::move(text));
  }
  return arguments;
}

// `call` is {"function": {"name": ..., "arguments": ...}} or only the inner object.
Json prepare_call(const Json& call, bool text_arguments, std::map<std::string, std::string>& names) {
  const Json* inside = call.find("function");
  const Json& function = inside != nullptr && inside->is_object() ? *inside : call;
  const Json *id = call.find("id"), *name = function.find("name"), *arguments = function.find("arguments");
  if (id != nullptr && id->is_string() && name != nullptr && name->is_string())
    names[id->as_string()] = name->as_string();
  if (arguments == nullptr) return call;
  const Json changed = with(function, "arguments", converted(*arguments, text_arguments));
  return &function == &call ? changed : with(call, "function", changed);
}

Json prepare_message(const Json& message, bool text_arguments, std::map<std::string, std::string>& names) {
  const Json *calls = message.find("tool_calls"), *id = message.find("tool_call_id");
  if (calls != nullptr && calls->is_array()) {
    std::vector<Json> prepared;
    for (const Json& call : calls->items()) prepared.push_back(prepare_call(call, text_arguments, names));
    return with(message, "tool_calls", Json::make_array(std::move(prepared)));
  }
  if (id == nullptr || !id->is_string() || message.find("name") != nullptr) return message;
  const auto found = names.find(id->as_string());
  return found == names.end() ? message : with(message, "name", Json::make_string(found->second));
}

// Renders a conversation with one call, whose arguments are {"probed_key": "probed value"}.
std::string rendered_probe(const JinjaTemplate& chat_template, bool as_text) {
  const Json arguments = Json::make_object({{"probed_key", Json::make_string("probed value")}});
  const auto string = [](const char* text) { return Json::make_string(text); };
  const Json function = Json::make_object({{"name", string("probe")}, {"arguments", converted(arguments, as_text)}});
  const Json call =
      Json::make_object({{"id", string("probe0000")}, {"type", string("function")}, {"function", function}});
  const Json user = Json::make_object({{"role", string("user")}, {"content", string("go")}});
  const Json assistant = Json::make_object(
      {{"role", string("assistant")}, {"content", string("")}, {"tool_calls", Json::make_array({call})}});
  const Json result = Json::make_object({{"role", string("tool")},
                                         {"content", string("done")},
                                         {"tool_call_id", string("probe0000")},
                                         {"name", string("probe")}});
  const auto segments = chat_template.render(Json::make_object(
      {{"messages", Json::make_array({user, assistant, result})}, {"add_generation_prompt", Json::make_bool(true)}}));
  std::string text;
  if (segments.is_ok())
    for (const PromptSegment& segment : *segments) text += segment.text;
  return text;
}

}  // namespace

bool wants_text_arguments(const JinjaTemplate& chat_template) {
  const std::string object = rendered_probe(chat_template, false);
  // If the object is printed as JSON or key by key, the template handles objects; Python's repr shows that it does not.
  const bool is_printed = object.find("probed_key") != std::string::npos;
  if (is_printed && object.find("{'probed_key'") == std::string::npos) return false;
  const std::string text = rendered_probe(chat_template, true);
  return text.find("{\"probed_key\": \"probed value\"}") != std::string::npos;
}

Json prepare_messages(const Json& variables, bool text_arguments) {
  const Json* messages = variables.find("messages");
  if (messages == nullptr || !messages->is_array()) return variables;
  std::map<std::string, std::string> names;  // of the tools called, by the id of the call
  std::vector<Json> prepared;
  for (const Json& message : messages->items())
    prepared.push_back(message.is_object() ? prepare_message(message, text_arguments, names) : message);
  return with(variables, "messages", Json::make_array(std::move(prepared)));
}

}  // namespace pagoda::text
