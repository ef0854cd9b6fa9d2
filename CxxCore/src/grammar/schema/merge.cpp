// References, and schemas that apply together: allOf, and keywords next to $ref or anyOf.
#include <algorithm>

#include "base/concat.h"
#include "base/json_pointer.h"
#include "base/quoted.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"
#include "grammar/schema/merged_schema.h"

namespace pagoda::grammar {

using io::Json;

constexpr size_t kMaxReferenceChain = 4096;

// Follows references to references, so that a chain costs one call.
const Json* SchemaCompiler::resolve(const std::string& reference, const std::string& path) {
  std::string next = reference;
  for (size_t i = 0; i < kMaxReferenceChain && budget().spend(200); ++i) {
    const Json* at = io::find_reference(root_, next);
    if (!at && next.starts_with('#')) return fail(path, "'$ref' " + io::quoted(next) + " points nowhere"), nullptr;
    if (!at) return fail(path, "'$ref' " + io::quoted(next) + " does not point into the schema (#/...)"), nullptr;
    const Json* further = at->find("$ref");
    if (!further || !further->is_string() || has_constraints(*at, "$ref")) return at;
    next = further->as_string();
  }
  if (!budget().is_ok()) return fail(path, budget().status().message), nullptr;
  return fail(path, "'$ref' " + io::quoted(reference) + " refers to itself with nothing between"), nullptr;
}

// Adds the schema, what it refers to and the parts of its allOf.
bool SchemaCompiler::collect(const Json& schema, std::string_view except, bool is_outer, MergedSchema& into,
                             const std::string& path, int depth) {
  if (schema.is_bool()) {
    if (!schema.as_bool()) into.add_never();
    return true;
  }
  if (depth > kMaxSchemaDepth) return fail(path, concat("nested deeper than ", kMaxSchemaDepth, " schemas")), false;
  if (!schema.is_object()) return fail(path, "a schema is an object, true or false"), false;
  if (!check_keywords(schema, path)) return false;
  if (const Json* reference = schema.find("$ref")) {
    const Json* target = resolve(reference->as_string(), path);
    if (!target || !collect(*target, "", false, into, path, depth + 1)) return false;
  }
  if (const std::string_view key = into.add(schema, except, is_outer); !key.empty())
    return fail(path, "two different values of " + io::quoted(key) + " cannot be combined"), false;
  const Json* parts = schema.find("allOf");
  if (!parts || except == "allOf") return true;
  if (!parts->is_array() || parts->items().empty()) return fail(path, "'allOf' is a list of schemas"), false;
  for (size_t i = 0; i < parts->items().size(); ++i) {
    if (!collect(parts->items()[i], "", false, into, concat(path, "/allOf/", i), depth + 1)) return false;
  }
  return true;
}

const Json* SchemaCompiler::combine(const Json& schema, std::string_view except, const Json* part,
                                    const std::string& path, int depth) {
  MergedSchema merged(budget());
  const bool is_collected = collect(schema, except, true, merged, path, depth) &&
                            (!part || collect(*part, "", false, merged, path, depth + 1));
  Json all = is_collected ? merged.take() : Json();
  if (!budget().is_ok()) fail(path, budget().status().message);
  return is_ok() ? &kept_.emplace_back(std::move(all)) : nullptr;
}

// A reference alone is a call of a rule; in raw text, where rules of JSON values do not apply, it is written out.
bool SchemaCompiler::add_reference(const Json& schema, const Slot& slot) {
  const Json* reference = schema.find("$ref");
  if (!reference && !schema.find("allOf")) return false;
  Slot same = slot;
  ++same.depth;
  if (!reference || has_constraints(schema, "$ref")) {
    if (const Json* merged = combine(schema, "", nullptr, slot.path, slot.depth)) add_value(*merged, same);
    return true;
  }
  const Json* target = resolve(reference->as_string(), slot.path);
  if (target && slot.raw) add_value(*target, same);
  else if (target) call_rule(slot, rule_of(*target, reference->as_string().substr(1)));
  return true;
}

bool SchemaCompiler::add_alternatives(const Json& schema, const Slot& slot) {
  for (const char* keyword : {"anyOf", "oneOf"}) {
    const Json* parts = schema.find(keyword);
    if (!parts) continue;
    if (!parts->is_array() || parts->items().empty())
      return fail(slot.path, std::string("'") + keyword + "' is a list of schemas"), true;
    const bool is_bare = !has_constraints(schema, keyword);
    for (size_t i = 0; i < parts->items().size() && is_ok(); ++i) {
      const Json* part = &parts->items()[i];
      Slot at = inside(slot, concat(keyword, "/", i), slot.from, slot.to);
      at.raw = slot.raw;
      at.is_alternative = true;
      if (!is_bare) part = combine(schema, keyword, part, at.path, at.depth);
      if (part) add_value(*part, at);
    }
    return true;
  }
  return false;
}

}  // namespace pagoda::grammar
