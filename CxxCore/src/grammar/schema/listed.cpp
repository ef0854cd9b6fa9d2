// Listed values, enum and const: those that satisfy the other keywords of their schema, as a tree of their spellings.
#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "base/json_writer.h"
#include "base/quoted.h"
#include "base/schema_types.h"
#include "grammar/parameter_text.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"
#include "text/output/parameter_kind.h"

namespace pagoda::grammar {

using io::Json;

static bool has_type(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number() && value.as_double() == std::floor(value.as_double());
  if (type == "number") return value.is_number();
  static constexpr const char* kNames[] = {"null", "boolean", "number", "number", "string", "array", "object"};
  return type == kNames[static_cast<size_t>(value.kind())];
}

// The value as JSON. In a parameter, text that its guard forbids is escaped.
std::string SchemaCompiler::spelled(const Json& value) const {
  std::string text;
  io::append_json(value, text);
  if (!is_in_parameters_ || fits_parameter(text)) return text;
  std::string escaped;
  for (const char c : text) c == '<' ? escaped += "\\u003c" : escaped += c;
  return escaped;
}

bool SchemaCompiler::add_listed_values(const Json& schema, const Slot& slot) {
  const Json* one = schema.find("const");
  const Json* list = schema.find("enum");
  if (!one && !list) return false;
  if (list && (!list->is_array() || list->items().empty())) return fail(slot.path, "'enum' is a list of values"), true;
  std::set<std::string> spellings;
  const auto take = [&](const Json& value) {
    if (!is_ok() || !allows_listed(schema, value, slot.path, slot.depth)) return;
    if (!slot.raw) spellings.insert(spelled(value));
    else add_raw_spelling(value, slot, spellings);
  };
  if (!one) std::ranges::for_each(list->items(), take);
  else if (!list || is_listed(*one, list->items())) take(*one);
  if (!budget().is_ok()) fail(slot.path, budget().status().message);
  if (!is_ok()) return true;
  if (spellings.empty() && !slot.is_alternative)
    return fail(slot.path, std::string("no value of '") + (one ? "const" : "enum") + "' satisfies the other keywords"),
           true;
  builder_.add_words(slot.from, std::vector<std::string>(spellings.begin(), spellings.end()), slot.to);
  return true;
}

// A string is its own text; other values are written only where the call parser converts them back.
void SchemaCompiler::add_raw_spelling(const Json& value, const Slot& slot, std::set<std::string>& spellings) {
  std::string text = value.is_string() ? value.as_string() : spelled(value);
  const std::vector<std::string>& listed = slot.raw->listed;
  const bool is_read_back = value.is_string() ? !slot.raw->may_be_null || (text != "null" && text != "None")
                            : value.is_null() ? slot.raw->may_be_null
                                              : std::ranges::find(listed, text) != listed.end();
  if (!is_read_back && value.is_string()) return;  // null is allowed too, and its text means null
  if (!is_read_back || !fits_parameter(text))
    return fail(slot.path, "the value " + io::quoted(text) + " cannot be written as a parameter of a call");
  spellings.insert(std::move(text));
}

// Texts are compared: each costs its size.
bool SchemaCompiler::is_listed(const Json& value, std::span<const Json> list) {
  const std::string text = spelled(value);
  budget().spend(text.size() / 4);
  return std::ranges::any_of(list, [&](const Json& other) {
    if (!budget().is_ok()) return false;
    const std::string other_text = spelled(other);
    return budget().spend(50 + other_text.size() / 4) && other_text == text;
  });
}

bool SchemaCompiler::allows(const Json& schema, const Json& value, const std::string& path, int depth) {
  if (schema.is_bool()) return schema.as_bool();
  const Json* one = schema.find("const");
  const Json* list = schema.find("enum");
  if (one && !is_listed(value, {one, 1})) return false;
  if (list && !is_listed(value, list->items())) return false;
  return allows_listed(schema, value, path, depth);
}

bool SchemaCompiler::allows_listed(const Json& schema, const Json& value, const std::string& path, int depth) {
  if (depth > kMaxSchemaDepth || !budget().spend(100)) return fail(path, "takes too long to check its values"), false;
  if (!check_keywords(schema, path)) return false;
  const auto is_nullable = schema.find("nullable");
  if (value.is_null() && is_nullable && is_nullable->as_bool()) return true;
  const std::vector<std::string> types = io::schema_types(schema);
  const auto fits_type = [&](const std::string& type) { return has_type(value, type); };
  if (!types.empty() && std::ranges::none_of(types, fits_type)) return false;
  if (value.is_string() && !allows_string(schema, value.as_string(), path)) return false;
  if (value.is_number() && !allows_number(schema, value.as_double(), path)) return false;
  if (value.is_array() && !allows_items(schema, value, path, depth)) return false;
  if (value.is_object() && !allows_members(schema, value, path, depth)) return false;
  return allows_parts(schema, value, path, depth);
}

bool SchemaCompiler::allows_parts(const Json& schema, const Json& value, const std::string& path, int depth) {
  const auto fits = [&](const Json& part) { return allows(part, value, path, depth + 1); };
  if (const Json* reference = schema.find("$ref")) {
    const Json* target = resolve(reference->as_string(), path);
    if (!target || !fits(*target)) return false;
  }
  const Json* all = schema.find("allOf");
  if (all && !std::ranges::all_of(all->items(), fits)) return false;
  for (const char* keyword : {"anyOf", "oneOf"}) {
    const Json* parts = schema.find(keyword);
    if (parts && std::ranges::none_of(parts->items(), fits)) return false;
  }
  return true;
}

// A format beside listed values is an annotation: the patterns of formats here are narrower than the formats.
bool SchemaCompiler::allows_string(const Json& schema, const std::string& value, const std::string& path) {
  int64_t least, most;
  if (!read_count(schema, "minLength", path, 0, least) || !read_count(schema, "maxLength", path, INT64_MAX, most))
    return false;
  if (!budget().spend(value.size() / 4)) return false;
  const auto size = std::ranges::count_if(value, [](char c) { return (c & 0xC0) != 0x80; });
  if (size < least || size > most) return false;
  const Json* expression = schema.find("pattern");
  if (!expression) return true;
  const Pattern* pattern = pattern_of(expression->as_string(), "pattern", path);
  return pattern && pattern->matches(value, budget());
}

bool SchemaCompiler::allows_number(const Json& schema, double value, const std::string& path) {
  const auto bound = [&](const char* key, double otherwise) {
    const Json* limit = schema.find(key);
    if (limit && !limit->is_number()) fail(path, std::string("'") + key + "' is a number");
    return limit ? limit->as_double() : otherwise;
  };
  const double factor = bound("multipleOf", 0);
  if (factor != 0 && std::abs(std::remainder(value, factor)) > 1e-9 * std::abs(factor)) return false;
  return value >= bound("minimum", -HUGE_VAL) && value <= bound("maximum", HUGE_VAL) &&
         value > bound("exclusiveMinimum", -HUGE_VAL) && value < bound("exclusiveMaximum", HUGE_VAL);
}

bool SchemaCompiler::allows_items(const Json& schema, const Json& value, const std::string& path, int depth) {
  int64_t least, most;
  if (!read_count(schema, "minItems", path, 0, least) || !read_count(schema, "maxItems", path, INT64_MAX, most))
    return false;
  const auto size = static_cast<int64_t>(value.items().size());
  if (size < least || size > most) return false;
  const Json* items = schema.find("items");
  const Json* prefix = schema.find("prefixItems");
  if (items && items->is_array()) prefix = items, items = schema.find("additionalItems");
  std::set<std::string> seen;
  for (size_t i = 0; i < value.items().size(); ++i) {
    const Json* item = prefix && i < prefix->items().size() ? &prefix->items()[i] : items;
    if (item && !allows(*item, value.items()[i], path, depth + 1)) return false;
    seen.insert(spelled(value.items()[i]));
  }
  const Json* unique = schema.find("uniqueItems");
  return !unique || !unique->as_bool() || seen.size() == value.items().size();
}

// Members are found one after the other: each search costs the number of members.
bool SchemaCompiler::allows_members(const Json& schema, const Json& value, const std::string& path, int depth) {
  static const std::vector<io::JsonMember> kNone;
  int64_t least;
  if (!read_count(schema, "minProperties", path, 0, least)) return false;
  if (static_cast<int64_t>(value.members().size()) < least) return false;
  if (const Json* required = schema.find("required")) {
    for (const Json& name : required->items())
      if (!budget().spend(value.members().size()) || !value.find(name.as_string())) return false;
  }
  const Json* names = schema.find("propertyNames");
  const Json* properties = schema.find("properties");
  const Json* patterns = schema.find("patternProperties");
  const Json* additional = schema.find("additionalProperties");
  for (const io::JsonMember& member : value.members()) {
    if (names && !allows(*names, Json::make_string(member.first), path, depth + 1)) return false;
    if (!budget().spend(properties ? properties->members().size() : 0)) return false;
    const Json* declared = properties ? properties->find(member.first) : nullptr;
    bool is_named = declared != nullptr;
    if (declared && !allows(*declared, member.second, path, depth + 1)) return false;
    for (const io::JsonMember& entry : patterns ? patterns->members() : kNone) {
      const Pattern* pattern = pattern_of(entry.first, "patternProperties", path);
      if (!pattern || !budget().spend(20)) return false;
      if (!pattern->matches(member.first, budget())) continue;
      is_named = true;
      if (!allows(entry.second, member.second, path, depth + 1)) return false;
    }
    if (!is_named && additional && !allows(*additional, member.second, path, depth + 1)) return false;
  }
  return true;
}

}  // namespace pagoda::grammar
