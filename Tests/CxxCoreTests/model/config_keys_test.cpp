// model: no key of config.json is obeyed where transformers ignores it, or ignored where transformers obeys it.
// Fixture: Tools/fixtures/config_key_fixtures.py.
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/json_writer.h"
#include "model/checkpoint_editor.h"

namespace pagoda::test {
namespace {

using io::Json;
using io::JsonMember;

Json read_json(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const auto json = io::parse_json(text.str());
  CHECK_OK(json);
  return json.is_ok() ? *json : Json();
}

// The member `key`, a path of one or two names, replaced by `value`, or removed where that is null.
Json changed(const Json& object, const std::string& key, const Json* value) {
  const size_t dot = key.find('.');
  const std::string first = key.substr(0, dot);
  std::vector<JsonMember> members;
  bool is_found = false;
  for (const auto& [name, old] : object.members()) {
    if (name != first) {
      members.emplace_back(name, old);
      continue;
    }
    is_found = true;
    if (dot != std::string::npos) members.emplace_back(name, changed(old, key.substr(dot + 1), value));
    else if (value != nullptr) members.emplace_back(name, *value);
  }
  if (!is_found && value != nullptr) members.emplace_back(first, *value);
  return Json::make_object(std::move(members));
}

// The chosen logits of the prompt's last token; empty when the model is refused.
std::vector<double> logits_at(CheckpointEditor& editor, const std::vector<int32_t>& prompt, const Json& indices) {
  auto runner = ModelRunner::load(editor.write(), {.max_tokens = 64, .max_seqs = 1, .max_context = 64});
  if (!runner.is_ok()) return {};
  const std::vector<float> all = logits_of(**runner, prompt, prompt.size());
  std::vector<double> chosen;
  const size_t last = all.size() - static_cast<size_t>((*runner)->config().vocab_size);
  for (const Json& index : indices.items()) chosen.push_back(all[last + static_cast<size_t>(index.as_integer())]);
  return chosen;
}

double distance(const std::vector<double>& a, const Json& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b.items()[i].as_double()));
  return worst;
}

struct Counts {
  int agree = 0, refused_by_both = 0, refused_by_us = 0, refused_by_them = 0;
};

void check_model_keys(const Json& model, const Json& indices, Counts& counts) {
  const std::string name = model.find("name")->as_string();
  CheckpointEditor editor(fixtures_dir() + "/model/" + name);
  const auto config = io::parse_json(editor.config());
  REQUIRE_OK(config);
  std::vector<int32_t> prompt;
  for (const Json& id : model.find("prompt")->items()) prompt.push_back(static_cast<int32_t>(id.as_integer()));
  CHECK(distance(logits_at(editor, prompt, indices), *model.find("logits")) < 2e-4);
  for (const Json& row : model.find("rows")->items()) {
    editor.config().clear();
    io::append_json(changed(*config, row.find("key")->as_string(), row.find("value")), editor.config());
    const std::vector<double> ours = logits_at(editor, prompt, indices);
    const Json& result = *row.find("result");
    if (result.is_string() && result.as_string() == "refused") {
      ++(ours.empty() ? counts.refused_by_both : counts.refused_by_them);
      continue;
    }
    if (ours.empty()) {
      ++counts.refused_by_us;
      continue;
    }
    if (distance(ours, result.is_array() ? result : *model.find("logits")) < 2e-4) {
      ++counts.agree;
      continue;
    }
    std::string text;
    io::append_json(row, text);
    fail(__FILE__, __LINE__, name + " differs silently: " + text.substr(0, 120));
  }
}

}  // namespace

PAGODA_TEST(model_config_keys_have_the_effect_that_they_have_in_transformers) {
  const Json table = read_json(fixtures_dir() + "/model/config_keys.json");
  const Json *models = table.find("models"), *indices = table.find("indices");
  REQUIRE(models != nullptr && indices != nullptr && models->items().size() >= 10);
  Counts counts;
  for (const Json& model : models->items()) check_model_keys(model, *indices, counts);
  note("agree: " + std::to_string(counts.agree) + ", refused by both: " + std::to_string(counts.refused_by_both) +
       ", by us alone: " + std::to_string(counts.refused_by_us) +
       ", by transformers alone: " + std::to_string(counts.refused_by_them));
  CHECK(counts.agree > 400);
}

}  // namespace pagoda::test
