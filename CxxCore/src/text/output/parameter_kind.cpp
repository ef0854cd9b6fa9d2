// Types are sets of bits: combinations unite and intersect them.
#include "text/output/parameter_kind.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/json_pointer.h"
#include "base/json_writer.h"
#include "base/schema_types.h"

namespace pagoda::text {
namespace {

using io::Json;

constexpr uint8_t kNull = 1, kString = 2, kBoolean = 4, kNumber = 8, kArray = 16, kObject = 32, kAllTypes = 63;
constexpr int kMaxKindDepth = 64;
// Schemas come from clients, and references let every part of one lead to all others.
constexpr size_t kMaxKindSteps = 600'000, kStepsPerSchema = 30;

uint8_t type_bit(std::string_view type) {
  static constexpr std::pair<std::string_view, uint8_t> kBits[] = {{"null", kNull},       {"string", kString},
                                                                   {"boolean", kBoolean}, {"number", kNumber},
                                                                   {"integer", kNumber},  {"array", kArray}};
  for (const auto& [name, bit] : kBits)
    if (name == type) return bit;
  return kObject;
}

uint8_t value_bit(const Json& value) {
  static constexpr uint8_t kBits[] = {kNull, kBoolean, kNumber, kNumber, kString, kArray, kObject};
  return kBits[static_cast<size_t>(value.kind())];
}

class KindFinder {
 public:
  explicit KindFinder(const Json& root) : root_(root) {}

  ParameterKind find(std::string_view name) {
    const uint8_t types = member_types(root_, name, 0);
    ParameterKind kind;
    kind.num_steps = num_steps_;
    if (!is_declared_) return kind;
    kind.is_exact = is_exact_;
    kind.is_open = !is_typed_ && is_exact_;
    kind.may_be_string = !kind.is_open && (types & kString) != 0;
    kind.may_be_null = (types & kNull) != 0;
    kind.may_be_json = (types & ~(kString | kNull)) != 0;
    if (kind.may_be_string && kind.may_be_json && is_listable_) kind.listed = std::move(listed_);
    return kind;
  }

 private:
  // False if there is too much to look at.
  bool spend(size_t num_steps) {
    num_steps_ += num_steps;
    if (num_steps_ > kMaxKindSteps) is_exact_ = false;
    return is_exact_;
  }

  bool enter(const Json& schema, int depth) {
    if (depth > kMaxKindDepth) is_exact_ = false;
    return spend(kStepsPerSchema + schema.members().size());
  }

  // All parts of the object that constrain the member.
  uint8_t member_types(const Json& schema, std::string_view name, int depth) {
    uint8_t types = kAllTypes;
    if (!enter(schema, depth)) return types;
    const Json* properties = schema.find("properties");
    if (properties && !spend(properties->members().size())) return types;
    const Json* member = properties ? properties->find(name) : nullptr;
    if (!member) {
      member = schema.find("additionalProperties");
      if (member && !member->is_object()) member = nullptr;
    }
    if (member) {
      is_listable_ = is_listable_ && !is_declared_;
      is_declared_ = true;
      types &= types_of(*member, depth + 1);
    }
    if (const Json* target = target_of(schema)) types &= member_types(*target, name, depth + 1);
    if (const Json* parts = schema.find("allOf"))
      for (const Json& part : parts->items()) types &= member_types(part, name, depth + 1);
    return types;
  }

  const Json* target_of(const Json& schema) const {
    const Json* reference = schema.find("$ref");
    return reference ? io::find_reference(root_, reference->as_string()) : nullptr;
  }

  uint8_t types_of(const Json& schema, int depth) {
    if (schema.is_bool()) {
      is_typed_ |= !schema.as_bool();
      return schema.as_bool() ? kAllTypes : 0;
    }
    if (!enter(schema, depth)) return kAllTypes;
    for (const char* keyword : {"type", "enum"})
      if (const Json* list = schema.find(keyword); list && !spend(list->items().size())) return kAllTypes;
    note_listed(schema);
    uint8_t types = named_types(schema);
    if (const Json* target = target_of(schema)) types &= types_of(*target, depth + 1);
    for (const char* keyword : {"anyOf", "oneOf", "allOf"}) {
      const Json* parts = schema.find(keyword);
      if (!parts || parts->items().empty()) continue;
      const bool is_all = keyword[1] == 'l';
      uint8_t both = is_all ? kAllTypes : 0;
      for (const Json& part : parts->items()) {
        const uint8_t other = types_of(part, depth + 1);
        both = is_all ? both & other : both | other;
      }
      types &= both;
    }
    const Json* nullable = schema.find("nullable");
    return nullable && nullable->as_bool() ? types | kNull : types;
  }

  uint8_t named_types(const Json& schema) {
    uint8_t types = kAllTypes;
    if (const std::vector<std::string> names = io::schema_types(schema); !names.empty()) {
      uint8_t named = 0;
      for (const std::string& name : names) named |= type_bit(name);
      types &= named;
      is_typed_ = true;
    }
    if (const Json* one = schema.find("const")) types &= value_bit(*one), is_typed_ = true;
    if (const Json* list = schema.find("enum")) {
      uint8_t listed = 0;
      for (const Json& value : list->items()) listed |= value_bit(value);
      types &= listed;
      is_typed_ = true;
    }
    return types;
  }

  // Collects enum and const values that are no strings. They are accepted for certain only if they are nothing but
  // alternatives: no schema on the way has a second keyword that could exclude them.
  void note_listed(const Json& schema) {
    int num_choices = 0;
    bool has_limits = schema.find("type") && !schema.find("enum") && !schema.find("const");
    for (const io::JsonMember& member : schema.members()) {
      const std::string& key = member.first;
      num_choices += key == "enum" || key == "const" || key == "anyOf" || key == "oneOf" || key == "$ref";
      has_limits |= !io::implied_type(key).empty();
      if (key == "allOf") is_listable_ = false;
    }
    if (num_choices > 1 || (num_choices == 1 && has_limits)) is_listable_ = false;
    const std::vector<std::string> names = io::schema_types(schema);
    const auto note = [&](const Json& value) {
      if (!is_listable_ || !is_exact_ || value.is_string() || value.is_null()) return;
      if (!spend(names.size()) || !has_named_type(names, value)) return;
      io::append_json(value, listed_.emplace_back());
      spend(listed_.back().size() / 8);
    };
    if (const Json* one = schema.find("const")) note(*one);
    if (const Json* list = schema.find("enum")) std::ranges::for_each(list->items(), note);
  }

  static bool has_named_type(const std::vector<std::string>& names, const Json& value) {
    const bool is_whole = value.is_number() && value.as_double() == std::floor(value.as_double());
    return names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
             return type_bit(name) == value_bit(value) && (name != "integer" || is_whole);
           });
  }

  const Json& root_;
  size_t num_steps_ = 0;
  bool is_exact_ = true, is_declared_ = false, is_typed_ = false, is_listable_ = true;
  std::vector<std::string> listed_;
};

}  // namespace

ParameterKind parameter_kind(const Json& schema, std::string_view name) { return KindFinder(schema).find(name); }

}  // namespace pagoda::text
