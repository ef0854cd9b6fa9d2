// Reads tokenizer.json, chat_template.jinja and tokenizer_config.json.
#include "engine/load/text_files.h"

#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "base/json.h"

namespace pagoda::engine {
namespace {

constexpr uint64_t kMaxTokenizerConfigBytes = 4 << 20;
constexpr uint64_t kMaxTokenizerBytes = 64 << 20;
constexpr uint64_t kMaxTemplateBytes = 1 << 20;

// `chat_template` is a string, or a list of {name, template} of which the one named default is used.
const io::Json* find_default_template(const io::Json& tokenizer_config) {
  const io::Json* found = tokenizer_config.find("chat_template");
  if (!found || found->is_string()) return found;
  if (!found->is_array()) return nullptr;
  for (const io::Json& entry : found->items()) {
    const io::Json* name = entry.find("name");
    const io::Json* source = entry.find("template");
    if (name && name->is_string() && name->as_string() == "default" && source && source->is_string()) return source;
  }
  return nullptr;
}

// bos_token and similar names that templates may use: a string, or an object with `content`.
text::JinjaTemplate::Constants special_tokens(const io::Json& tokenizer_config) {
  text::JinjaTemplate::Constants constants;
  for (const char* name : {"bos_token", "eos_token", "pad_token", "unk_token"}) {
    const io::Json* token = tokenizer_config.find(name);
    if (token && token->is_object()) token = token->find("content");
    if (token && token->is_string()) constants[name] = token->as_string();
  }
  return constants;
}

}  // namespace

Result<std::shared_ptr<const text::SubwordTokenizer>> load_tokenizer_file(const io::ModelFiles& files) {
  if (!files.exists("tokenizer.json")) return std::shared_ptr<const text::SubwordTokenizer>();
  PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text("tokenizer.json", kMaxTokenizerBytes));
  return text::SubwordTokenizer::from_json(text, files.description() + "/tokenizer.json");
}

// chat_template.jinja takes precedence; older folders keep the template as a string in tokenizer_config.json.
Result<std::shared_ptr<const text::JinjaTemplate>> load_template_file(const io::ModelFiles& files) {
  io::Json tokenizer_config;
  const std::string config_name = files.description() + "/tokenizer_config.json";
  if (files.exists("tokenizer_config.json")) {
    PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text("tokenizer_config.json", kMaxTokenizerConfigBytes));
    Result<io::Json> json = io::parse_json(text);
    if (!json.is_ok()) return make_error(json.status.code, config_name + ": " + json.status.message);
    tokenizer_config = std::move(*json);
  }
  if (files.exists("chat_template.jinja")) {
    PAGODA_ASSIGN_OR_RETURN(std::string source, files.read_text("chat_template.jinja", kMaxTemplateBytes));
    return text::JinjaTemplate::parse(source, files.description() + "/chat_template.jinja",
                                      special_tokens(tokenizer_config));
  }
  const io::Json* source = find_default_template(tokenizer_config);
  if (!source) return std::shared_ptr<const text::JinjaTemplate>();
  return text::JinjaTemplate::parse(source->as_string(), config_name, special_tokens(tokenizer_config));
}

}  // namespace pagoda::engine
