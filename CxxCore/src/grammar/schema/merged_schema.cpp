// Keywords by the way in which they combine: intersections, unions, the stricter bound, or all schemas together.
#include "grammar/schema/merged_schema.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "base/schema_types.h"
#include "grammar/schema/keywords.h"

namespace pagoda::grammar {
namespace {

using io::Json;
using io::JsonMember;

std::string json_text(const Json& value) {
  std::string text;
  io::append_json(value, text);
  return text;
}

// About what a copy costs: its values, and one for every 64 bytes of text.
size_t count_nodes(const Json& value) {
  size_t count = 1 + value.as_string().size() / 64;
  for (const Json& item : value.items()) count += count_nodes(item);
  for (const JsonMember& member : value.members()) count += count_nodes(member.second) + member.first.size() / 64;
  return count;
}

// integer satisfies both number and integer.
bool covers(const std::string& type, const std::string& other) {
  return type == other || (type == "number" && other == "integer");
}

std::vector<Json> common_types(const Json& a, const Json& b) {
  const std::vector<std::string> left = io::schema_types(Json::make_object({{"type", a}}));
  const std::vector<std::string> right = io::schema_types(Json::make_object({{"type", b}}));
  std::vector<Json> both;
  std::set<std::string> seen;
  for (const std::string& x : left) {
    for (const std::string& y : right) {
      const std::string* common = covers(x, y) ? &y : covers(y, x) ? &x : nullptr;
      if (common && seen.insert(*common).second) both.push_back(Json::make_string(*common));
    }
  }
  return both;
}

bool is_lower_bound(std::string_view keyword) {
  return keyword == "minimum" || keyword == "exclusiveMinimum" || keyword.starts_with("min");
}

bool is_upper_bound(std::string_view keyword) {
  return keyword == "maximum" || keyword == "exclusiveMaximum" || keyword.starts_with("max");
}

// Empty if two different values of the keyword cannot be combined.
std::optional<Json> stricter(std::string_view keyword, const Json& a, const Json& b) {
  if (is_lower_bound(keyword) && a.is_number() && b.is_number()) return a.as_double() >= b.as_double() ? a : b;
  if (is_upper_bound(keyword) && a.is_number() && b.is_number()) return a.as_double() <= b.as_double() ? a : b;
  if (keyword == "uniqueItems") return Json::make_bool(a.as_bool() || b.as_bool());
  if (keyword == "nullable") return Json::make_bool(a.as_bool() && b.as_bool());
  if (json_text(a) == json_text(b)) return a;
  return std::nullopt;
}

Json with_null(const Json& type) {
  std::vector<Json> types = type.is_array() ? type.items() : std::vector<Json>{type};
  types.push_back(Json::make_string("null"));
  return Json::make_array(std::move(types));
}

}  // namespace

std::string_view MergedSchema::add(const Json& schema, std::string_view except, bool is_outer) {
  const Json* nullable = schema.find("nullable");
  const bool adds_null = !is_outer && nullable && nullable->as_bool();
  for (const JsonMember& member : schema.members()) {
    const auto& [key, value] = member;
    if (classify(key) != Keyword::enforced || key == "$ref" || key == "allOf" || key == except) continue;
    if (key == "properties") add_members(value);
    else if (key == "required") add_required(value);
    else if (key == "additionalProperties") additional_.push_back({num_schemas_, &value});
    else if (key == "items" && !value.is_array()) items_.push_back(&value);
    else if (key == "nullable" && !is_outer) continue;
    else {
      budget_.add_merged_nodes(count_nodes(value));
      if (!budget_.is_ok()) return {};
      std::vector<Json> values = key == "enum" ? value.items() : std::vector<Json>{value};
      if (adds_null && (key == "enum" || key == "const")) values.emplace_back();
      const bool is_list = key == "enum" || (key == "const" && adds_null);
      if (is_list ? !add_enum(std::move(values))
                  : !add_keyword(key, adds_null && key == "type" ? with_null(value) : value))
        return key;
    }
  }
  ++num_schemas_;
  return {};
}

bool MergedSchema::add_keyword(const std::string& key, Json value) {
  const auto found = std::ranges::find(keywords_, key, &JsonMember::first);
  if (found == keywords_.end()) {
    keywords_.emplace_back(key, std::move(value));
    return true;
  }
  if (key == "type") {
    std::vector<Json> both = common_types(found->second, value);
    is_never_ |= both.empty();
    found->second = Json::make_array(std::move(both));
    return true;
  }
  if (!budget_.spend(8 * count_nodes(found->second))) return true;  // texts may be compared
  std::optional<Json> both = stricter(key, found->second, value);
  if (both) found->second = std::move(*both);
  else if (key == "const") is_never_ = true;
  return both.has_value() || key == "const";
}

bool MergedSchema::add_enum(std::vector<Json> values) {
  if (!has_enum_) enum_ = std::move(values);
  else {
    std::set<std::string> allowed;
    for (const Json& value : values) allowed.insert(json_text(value));
    std::erase_if(enum_, [&](const Json& value) { return !allowed.contains(json_text(value)); });
    is_never_ |= enum_.empty();
  }
  return has_enum_ = true;
}

void MergedSchema::add_members(const Json& properties) {
  has_members_ = true;
  for (const JsonMember& member : properties.members()) {
    const auto [found, is_new] = member_ids_.try_emplace(member.first, members_.size());
    if (is_new) members_.push_back({member.first, {}});
    members_[found->second].schemas.emplace_back(num_schemas_, &member.second);
  }
}

void MergedSchema::add_required(const Json& names) {
  has_required_ = true;
  for (const Json& name : names.items()) {
    if (required_names_.insert(json_text(name)).second) required_.push_back(name);
  }
}

Json MergedSchema::copy_all(const std::vector<const Json*>& schemas) {
  std::vector<Json> all;
  for (const Json* schema : schemas) {
    if (schema->is_bool() && !schema->as_bool()) return *schema;
    if (schema->is_bool()) continue;
    if (!budget_.add_merged_nodes(count_nodes(*schema))) return {};
    all.push_back(*schema);
  }
  if (all.empty()) return Json::make_bool(true);
  if (all.size() == 1) return std::move(all[0]);
  return Json::make_object({{"allOf", Json::make_array(std::move(all))}});
}

// A schema that does not declare a member constrains it by its additionalProperties.
Json MergedSchema::take_members() {
  std::vector<JsonMember> out;
  for (Member& member : members_) {
    std::vector<const Json*> schemas;
    size_t next = 0;
    for (const auto& [index, schema] : member.schemas) schemas.push_back(schema);
    for (const Additional& additional : additional_) {
      if (!budget_.spend(4)) return {};
      while (next < member.schemas.size() && member.schemas[next].first < additional.index) ++next;
      const bool is_declared = next < member.schemas.size() && member.schemas[next].first == additional.index;
      if (!is_declared) schemas.push_back(additional.schema);
    }
    if (!budget_.is_ok()) return {};
    out.emplace_back(std::move(member.name), copy_all(schemas));
  }
  return Json::make_object(std::move(out));
}

Json MergedSchema::take() {
  if (is_never_) return Json::make_bool(false);
  std::vector<JsonMember> out = std::move(keywords_);
  if (has_enum_) out.emplace_back("enum", Json::make_array(std::move(enum_)));
  if (has_required_) out.emplace_back("required", Json::make_array(std::move(required_)));
  if (has_members_) out.emplace_back("properties", take_members());
  std::vector<const Json*> others;
  for (const Additional& additional : additional_) others.push_back(additional.schema);
  if (!others.empty()) out.emplace_back("additionalProperties", copy_all(others));
  if (!items_.empty()) out.emplace_back("items", copy_all(items_));
  return budget_.is_ok() ? Json::make_object(std::move(out)) : Json();
}

}  // namespace pagoda::grammar
