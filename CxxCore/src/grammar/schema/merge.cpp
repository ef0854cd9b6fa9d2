// References, and schemas that apply together: allOf, and keywords next to $ref or anyOf.
#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "base/json_writer.h"
#include "base/quoted.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"

namespace pagoda::grammar {

using io::Json;
using io::JsonMember;

constexpr size_t kMaxMerges = 2000;
constexpr size_t kMaxReferenceChain = 4096;

namespace {

std::string spelled(const Json& value) {
  std::string text;
  io::append_json(value, text);
  return text;
}

Json all_of(const Json& a, const Json& b) { return Json::make_object({{"allOf", Json::make_array({a, b})}}); }

// One step of a JSON pointer: ~1 is '/', ~0 is '~', %41 is 'A'.
std::string unescape(std::string_view step) {
  std::string out;
  const auto hex = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  for (size_t i = 0; i < step.size(); ++i) {
    const std::string_view rest = step.substr(i);
    if (rest.starts_with("~1") || rest.starts_with("~0")) {
      out += rest[1] == '1' ? '/' : '~';
      ++i;
    } else if (rest[0] == '%' && rest.size() > 2 && isxdigit(static_cast<unsigned char>(rest[1])) &&
               isxdigit(static_cast<unsigned char>(rest[2]))) {
      out += static_cast<char>(hex(rest[1]) * 16 + hex(rest[2]));
      i += 2;
    } else {
      out += rest[0];
    }
  }
  return out;
}

const Json* find_pointer(const Json& root, std::string_view pointer) {
  const Json* at = &root;
  while (at && !pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string step = unescape(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    if (at->is_array()) {
      const bool is_index =
          !step.empty() && step.size() < 9 && std::ranges::all_of(step, [](char c) { return c >= '0' && c <= '9'; });
      const size_t index = is_index ? static_cast<size_t>(std::stoul(step)) : at->items().size();
      at = index < at->items().size() ? &at->items()[index] : nullptr;
    } else {
      at = at->find(step);
    }
  }
  return at;
}

// integer satisfies both number and integer.
bool covers(const std::string& type, const std::string& other) {
  return type == other || (type == "number" && other == "integer");
}

Json merge_types(const Json& a, const Json& b) {
  const std::vector<std::string> left = types_of(Json::make_object({{"type", a}}));
  const std::vector<std::string> right = types_of(Json::make_object({{"type", b}}));
  std::vector<Json> both;
  for (const std::string& x : left) {
    for (const std::string& y : right) {
      if (covers(x, y)) both.push_back(Json::make_string(y));
      else if (covers(y, x)) both.push_back(Json::make_string(x));
    }
  }
  return both.empty() ? Json::make_bool(false) : Json::make_array(std::move(both));
}

Json merge_lists(const Json& a, const Json& b, bool keep_common) {
  std::vector<Json> out = keep_common ? std::vector<Json>() : a.items();
  std::set<std::string> seen;
  for (const Json& item : a.items()) seen.insert(spelled(item));
  for (const Json& item : b.items()) {
    if (seen.contains(spelled(item)) == keep_common) out.push_back(item);
  }
  return Json::make_array(std::move(out));
}

// The constraint that schema `other`, which does not declare the property, puts on it.
Json seen_by(const Json& schema, const Json* other_additional) {
  if (!other_additional || (other_additional->is_bool() && other_additional->as_bool())) return schema;
  return other_additional->is_bool() ? *other_additional : all_of(schema, *other_additional);
}

Json merge_properties(const Json& a, const Json& b) {
  static const Json kNone = Json::make_object({});
  const Json* left = a.find("properties");
  const Json* right = b.find("properties");
  if (!left) left = &kNone;
  if (!right) right = &kNone;
  std::vector<JsonMember> merged;
  for (const JsonMember& member : left->members()) {
    const Json* other = right->find(member.first);
    merged.emplace_back(member.first,
                        other ? all_of(member.second, *other) : seen_by(member.second, b.find("additionalProperties")));
  }
  for (const JsonMember& member : right->members()) {
    if (!left->find(member.first))
      merged.emplace_back(member.first, seen_by(member.second, a.find("additionalProperties")));
  }
  return Json::make_object(std::move(merged));
}

enum class MergeWay { unknown, types, either_list, common_list, highest, lowest, both_schemas, both_true };

MergeWay merge_way(std::string_view keyword) {
  if (keyword == "type") return MergeWay::types;
  if (keyword == "required") return MergeWay::either_list;
  if (keyword == "enum") return MergeWay::common_list;
  if (keyword == "minimum" || keyword == "exclusiveMinimum" || keyword == "minLength" || keyword == "minItems" ||
      keyword == "minProperties")
    return MergeWay::highest;
  if (keyword == "maximum" || keyword == "exclusiveMaximum" || keyword == "maxLength" || keyword == "maxItems")
    return MergeWay::lowest;
  if (keyword == "items" || keyword == "additionalProperties") return MergeWay::both_schemas;
  return keyword == "nullable" ? MergeWay::both_true : MergeWay::unknown;
}

// Empty if two different values of the keyword cannot be combined.
std::optional<Json> merge_keyword(std::string_view keyword, const Json& a, const Json& b) {
  if (spelled(a) == spelled(b)) return a;
  if (keyword == "uniqueItems") return Json::make_bool(a.as_bool() || b.as_bool());
  switch (merge_way(keyword)) {
    case MergeWay::types: return merge_types(a, b);
    case MergeWay::either_list: return merge_lists(a, b, /*keep_common=*/false);
    case MergeWay::common_list: return merge_lists(a, b, /*keep_common=*/true);
    case MergeWay::highest: return a.as_double() >= b.as_double() ? a : b;
    case MergeWay::lowest: return a.as_double() <= b.as_double() ? a : b;
    case MergeWay::both_schemas:
      if (a.is_array() || b.is_array()) return std::nullopt;
      return all_of(a, b);
    case MergeWay::both_true: return Json::make_bool(a.as_bool() && b.as_bool());
    case MergeWay::unknown: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

// Follows references to references, so that a chain costs one call.
const Json* SchemaCompiler::resolve(const std::string& reference, const std::string& path) {
  const Json* at = nullptr;
  std::string next = reference;
  for (size_t i = 0; i < kMaxReferenceChain; ++i) {
    if (!next.starts_with('#') || (next.size() > 1 && next[1] != '/'))
      return fail(path, "'$ref' " + io::quoted(next) + " does not point into the schema (#/...)"), nullptr;
    at = find_pointer(root_, std::string_view(next).substr(1));
    if (!at) return fail(path, "'$ref' " + io::quoted(next) + " points nowhere"), nullptr;
    const Json* further = at->find("$ref");
    if (!further || !further->is_string() || has_constraints(without(*at, "$ref"))) return at;
    next = further->as_string();
  }
  return fail(path, "'$ref' " + io::quoted(reference) + " refers to itself with nothing between"), nullptr;
}

const Json* SchemaCompiler::merge(const Json& a, const Json& b, const std::string& path) {
  if (++num_merges_ > kMaxMerges) return fail(path, "too many schemas to combine"), nullptr;
  for (const Json* side : {&a, &b}) {
    if (side->is_bool()) return side->as_bool() ? keep(side == &a ? b : a) : keep(*side);
    if (!side->is_object()) return fail(path, "a schema is an object, true or false"), nullptr;
    if (!check_keywords(*side, path)) return nullptr;
  }
  for (const Json* side : {&a, &b}) {
    const Json* reference = side->find("$ref");
    if (!reference) continue;
    const Json* target = resolve(reference->as_string(), path);
    const Json* whole = target ? merge(*target, without(*side, "$ref"), path) : nullptr;
    if (!whole) return nullptr;
    return side == &a ? merge(*whole, b, path) : merge(a, *whole, path);
  }
  std::vector<JsonMember> merged;
  for (const JsonMember& member : a.members()) {
    const Json* other = b.find(member.first);
    if (classify(member.first) != Keyword::enforced || member.first == "properties") continue;
    std::optional<Json> value = other ? merge_keyword(member.first, member.second, *other) : member.second;
    if (!value)
      return fail(path, "two different values of " + io::quoted(member.first) + " cannot be combined"), nullptr;
    if (member.first == "type" && value->is_bool()) return keep(Json::make_bool(false));  // no type satisfies both
    merged.emplace_back(member.first, std::move(*value));
  }
  for (const JsonMember& member : b.members()) {
    if (classify(member.first) == Keyword::enforced && member.first != "properties" && !a.find(member.first))
      merged.push_back(member);
  }
  if (a.find("properties") || b.find("properties")) merged.emplace_back("properties", merge_properties(a, b));
  return keep(Json::make_object(std::move(merged)));
}

}  // namespace pagoda::grammar
