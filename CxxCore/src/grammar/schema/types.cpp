// Objects, arrays and numbers of a schema.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/concat.h"
#include "base/quoted.h"
#include "grammar/characters.h"
#include "grammar/pattern/parser.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"
#include "grammar/schema/numbers.h"
#include "text/unicode/unicode.h"

namespace pagoda::grammar {

using io::Json;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
static const Json kAnything = Json::make_bool(true);

bool SchemaCompiler::read_count(const Json& schema, const char* key, const std::string& path, int64_t otherwise,
                                int64_t& count) {
  const Json* value = schema.find(key);
  count = value ? value->as_integer() : otherwise;
  if (!value || (value->is_integer() && count >= 0)) return true;
  fail(path, std::string("'") + key + "' is a whole number of at least 0");
  return false;
}

std::vector<SchemaCompiler::Property> SchemaCompiler::properties_of(const Json& schema, const std::string& path) {
  std::vector<Property> properties;
  std::set<std::string> required;
  if (const Json* names = schema.find("required")) {
    for (const Json& name : names->items()) {
      if (!name.is_string()) fail(path, "'required' is a list of names");
      required.insert(name.as_string());
    }
    if (!names->is_array()) fail(path, "'required' is a list of names");
  }
  if (const Json* declared = schema.find("properties")) {
    if (!declared->is_object()) fail(path, "'properties' is an object");
    for (const io::JsonMember& member : declared->members())
      properties.push_back({member.first, &member.second, required.erase(member.first) > 0});
  }
  // Names that are only required accept the same values as additional properties.
  const Json* additional = schema.find("additionalProperties");
  for (const std::string& name : required) properties.push_back({name, additional ? additional : &kAnything, true});
  return properties;
}

// Declared properties in order, then others. In `before` no property has occurred yet, in `after` one has.
void SchemaCompiler::add_object(const Json& schema, const Slot& slot) {
  const std::vector<Property> properties = properties_of(schema, slot.path);
  const OtherKeys others = other_keys(schema, properties, slot.path);
  int64_t least;
  if (!is_ok() || !read_count(schema, "minProperties", slot.path, 0, least)) return;
  const auto num_required = std::ranges::count_if(properties, [](const Property& p) { return p.is_required; });
  if (least > std::max<int64_t>(1, num_required))
    return fail(slot.path, "'minProperties' beyond 1 and the required ones is not supported");
  if (properties.empty() && !others.value && !schema.find("properties") && least == 0 &&
      !schema.find("additionalProperties"))
    return add_any_object(slot.from, slot.to);
  int32_t before = add_whitespace(builder_.add_byte(slot.from, '{', '{')), after = builder_.add_state();
  const auto add_key_start = [&] {
    const int32_t key = builder_.add_state();
    builder_.add_jump(before, key);
    builder_.add_jump(add_whitespace(builder_.add_byte(after, ',', ',')), key);
    return key;
  };
  for (const Property& property : properties) {
    if (!is_ok()) return;
    const std::string key = spelled(Json::make_string(property.name));
    const int32_t value = add_colon(builder_.add_literal(add_key_start(), key)), value_end = builder_.add_state();
    add_value(*property.schema, inside(slot, "properties/" + property.name, value, value_end));
    const int32_t next_before = builder_.add_state();
    if (!property.is_required) {
      builder_.add_jump(before, next_before);
      builder_.add_jump(after, value_end);
    }
    before = next_before;
    after = value_end;
  }
  if (others.value) {
    const int32_t key_end = builder_.add_state(), value_end = builder_.add_state();
    if (others.key) add_string(*others.key, inside(slot, others.keyword, add_key_start(), key_end));
    else add_other_key(add_key_start(), properties, key_end);
    add_value(*others.value, inside(slot, others.keyword, add_colon(key_end), value_end));
    builder_.add_jump(value_end, after);
  }
  if (least == 0 || num_required > 0) builder_.add_bytes(before, '}', '}', slot.to);
  builder_.add_bytes(add_whitespace(after), '}', '}', slot.to);
}

// A key that is not a declared name: a tree of these names by characters, which any other character leaves.
// Escapes are not allowed, because an escaped declared name would be accepted too.
void SchemaCompiler::add_other_key(int32_t from, const std::vector<Property>& declared, int32_t to) {
  struct Node {
    int32_t state;
    bool is_name = false;
    std::map<char32_t, size_t> children{};
  };
  std::vector<Node> nodes{{builder_.add_byte(from, '"', '"')}};
  for (const Property& property : declared) {
    size_t node = 0;
    for (size_t i = 0; i < property.name.size();) {
      const text::Character c = text::read_character(property.name.data() + i);
      i += c.num_bytes;
      const auto [child, is_new] = nodes[node].children.try_emplace(c.value, nodes.size());
      node = child->second;
      if (is_new) nodes.push_back({builder_.add_state()});
    }
    nodes[node].is_name = true;
  }
  const int32_t free = builder_.add_state(), beyond_ascii = builder_.add_state();
  add_raw_characters(builder_, beyond_ascii, 0x80, kLastCharacter, free);
  add_raw_characters(builder_, free, 0, 0x7F, free);
  builder_.add_jump(free, beyond_ascii);
  builder_.add_bytes(free, '"', '"', to);
  for (const Node& node : nodes) {
    CharacterSet taken;
    for (const auto& [c, child] : node.children) {
      taken.push_back({c, c});
      add_raw_characters(builder_, node.state, c, c, nodes[child].state);
    }
    const bool all_ascii = taken.empty() || taken.back().last < 0x80;
    if (all_ascii) taken.push_back({0x80, kLastCharacter}), builder_.add_jump(node.state, beyond_ascii);
    for (const CharacterSpan& span : complement(taken))
      add_raw_characters(builder_, node.state, span.first, span.last, free);
    if (!node.is_name) builder_.add_bytes(node.state, '"', '"', to);
  }
}

void SchemaCompiler::add_array(const Json& schema, const Slot& slot) {
  int64_t least, most;
  if (!read_count(schema, "minItems", slot.path, 0, least) ||
      !read_count(schema, "maxItems", slot.path, kUnlimited, most))
    return;
  const Json* items = schema.find("items");
  const Json* prefix = schema.find("prefixItems");
  const Json* rest = items;
  if (items && items->is_array()) prefix = items, rest = schema.find("additionalItems");  // before draft 2020-12
  if (prefix && !prefix->is_array()) return fail(slot.path, "'prefixItems' is a list of schemas");
  if (!rest) rest = &kAnything;
  const size_t num_prefix = prefix ? prefix->items().size() : 0;
  if (rest->is_bool() && !rest->as_bool()) most = std::min(most, static_cast<int64_t>(num_prefix));
  const Json* unique = schema.find("uniqueItems");
  if (unique && unique->as_bool() && most > 1) {
    if (num_prefix > 0) return fail(slot.path, "'uniqueItems' and 'prefixItems' together are not supported");
    return add_unique_items(*rest, least, most, slot);
  }

  const int32_t open = add_whitespace(builder_.add_byte(slot.from, '[', '[')), close = builder_.add_state();
  builder_.add_bytes(close, ']', ']', slot.to);
  if (least == 0) builder_.add_jump(open, close);
  const size_t rest_rule = rule_of(*rest, longer_path(slot.path, "items"));
  int32_t item = open;  // state where the next item starts
  for (int64_t i = 0; i < most && is_ok(); ++i) {
    const auto index = static_cast<size_t>(i);
    const int32_t end = builder_.add_state();
    const bool in_prefix = index < num_prefix;
    if (in_prefix) add_value(prefix->items()[index], inside(slot, concat("prefixItems/", i), item, end));
    else builder_.add_call(item, rules_[rest_rule].rule, end);
    if (i + 1 >= least) builder_.add_jump(add_whitespace(end), close);
    const int32_t next = add_whitespace(builder_.add_byte(end, ',', ','));
    if (!in_prefix && i + 1 >= least && most == kUnlimited) {
      builder_.add_call(next, rules_[rest_rule].rule, end);
      break;
    }
    item = next;
  }
}

void SchemaCompiler::add_number(const Json& schema, bool is_integer, const Slot& slot) {
  if (const Json* factor = schema.find("multipleOf")) {
    is_integer = true;
    if (!factor->is_integer() || factor->as_integer() != 1) return add_multiples(schema, *factor, slot);
  }
  std::optional<NumberBound> low, high;
  const auto narrow = [&](const char* key, std::optional<NumberBound>& bound, bool exclusive, int direction) {
    const Json* value = schema.find(key);
    if (!value) return;
    const std::optional<Decimal> decimal = value->is_integer()
                                               ? std::optional(Decimal::from_integer(value->as_integer()))
                                               : Decimal::from_double(value->as_double());
    if (!value->is_number() || !decimal)
      return fail(slot.path, concat("'", key, "' is a number of at most ", kMaxDigits, " digits before the point"));
    const int order = bound ? compare(*decimal, bound->value) * direction : 1;
    if (order > 0 || (order == 0 && exclusive)) bound = NumberBound{*decimal, exclusive};
  };
  narrow("minimum", low, false, 1);
  narrow("exclusiveMinimum", low, true, 1);
  narrow("maximum", high, false, -1);
  narrow("exclusiveMaximum", high, true, -1);
  if (!is_integer && !low && !high) return add_any_number(builder_, slot.from, slot.to);
  add_numbers(builder_, slot.from, is_integer, low, high, slot.to);
}

}  // namespace pagoda::grammar
