// The table of keywords by type.
#include "base/schema_types.h"

#include <algorithm>

namespace pagoda::io {
namespace {

struct TypeKeyword {
  std::string_view keyword, type;
};
constexpr TypeKeyword kTypeKeywords[] = {
    {"properties", "object"},
    {"required", "object"},
    {"additionalProperties", "object"},
    {"patternProperties", "object"},
    {"propertyNames", "object"},
    {"minProperties", "object"},
    {"items", "array"},
    {"prefixItems", "array"},
    {"additionalItems", "array"},
    {"minItems", "array"},
    {"maxItems", "array"},
    {"uniqueItems", "array"},
    {"minLength", "string"},
    {"maxLength", "string"},
    {"pattern", "string"},
    {"format", "string"},
    {"minimum", "number"},
    {"maximum", "number"},
    {"exclusiveMinimum", "number"},
    {"exclusiveMaximum", "number"},
    {"multipleOf", "number"},
};

}  // namespace

std::string_view implied_type(std::string_view keyword) noexcept {
  const auto found = std::ranges::find(kTypeKeywords, keyword, &TypeKeyword::keyword);
  return found == std::end(kTypeKeywords) ? std::string_view() : found->type;
}

std::vector<std::string> schema_types(const Json& schema) {
  std::vector<std::string> types;
  if (const Json* type = schema.find("type")) {
    if (type->is_string()) types.push_back(type->as_string());
    for (const Json& item : type->items()) types.push_back(item.as_string());
    return types;
  }
  for (const JsonMember& member : schema.members()) {
    const std::string_view type = implied_type(member.first);
    if (!type.empty() && std::ranges::find(types, type) == types.end()) types.emplace_back(type);
  }
  return types;
}

}  // namespace pagoda::io
