// Keywords that constrain several parts of a value together: names of members, distinct items, multiples.
#include <algorithm>
#include <array>
#include <set>

#include "base/concat.h"
#include "base/quoted.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/numbers.h"

namespace pagoda::grammar {

using io::Json;

constexpr size_t kMaxUniqueValues = 64;
constexpr int64_t kMaxFactor = 1000;

// Undeclared members. patternProperties applies only to their names, so it is satisfied if there are none; if there are
// declared members too, the undeclared ones are omitted.
SchemaCompiler::OtherKeys SchemaCompiler::other_keys(const Json& schema, const std::vector<Property>& properties,
                                                     const std::string& path) {
  const Json* additional = schema.find("additionalProperties");
  const Json* patterns = schema.find("patternProperties");
  const Json* names = schema.find("propertyNames");
  const bool is_open = additional && !(additional->is_bool() && !additional->as_bool());
  if (patterns && !patterns->members().empty()) {
    for (const Property& property : properties) {
      for (const io::JsonMember& member : patterns->members()) {
        const Pattern* pattern = pattern_of(member.first, "patternProperties", path);
        const bool is_named = pattern && pattern->matches(property.name, budget());
        if (!budget().spend(20)) return fail(path, budget().status().message), OtherKeys();
        if (!pattern || is_named)
          return fail(path, "'patternProperties' that name declared properties are not supported"), OtherKeys();
      }
    }
    if (!properties.empty()) return {};
    const io::JsonMember& first = patterns->members().front();
    const Json* key = keep(Json::make_object({{"pattern", Json::make_string(first.first)}}));
    if (names) return fail(path, "'patternProperties' and 'propertyNames' together are not supported"), OtherKeys();
    return {&first.second, key, "patternProperties"};
  }
  static const Json kAnything = Json::make_bool(true);
  if (names && names->is_object()) {
    if (!properties.empty()) return {};  // propertyNames would also apply to the declared names
    const bool is_open_by_default = !additional || is_open;
    if (!is_open_by_default) return {};
    for (const io::JsonMember& member : names->members()) {
      static constexpr std::array<std::string_view, 6> kKnown{"pattern",   "format", "minLength",
                                                              "maxLength", "type",   "description"};
      if (std::ranges::find(kKnown, member.first) == kKnown.end())
        return fail(path, "'propertyNames' with " + io::quoted(member.first) + " is not supported"), OtherKeys();
    }
    return {is_open ? additional : &kAnything, names, "propertyNames"};
  }
  if (is_open) return {additional, nullptr, "additionalProperties"};
  const bool needs_some = schema.find("minProperties") && properties.empty() && !additional;
  if (needs_some) return {&kAnything, nullptr, "additionalProperties"};
  return {};
}

// The listed values in order, each at most once, so that earlier values need not be remembered.
void SchemaCompiler::add_unique_items(const Json& items, int64_t least, int64_t most, const Slot& slot) {
  const Json* schema = &items;
  if (const Json* reference = items.find("$ref")) schema = resolve(reference->as_string(), slot.path);
  const Json* list = schema ? schema->find("enum") : nullptr;
  if (!schema) return;
  if (!list || !list->is_array()) return fail(slot.path, "'uniqueItems' can be enforced for items of an enum only");
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const Json& value : list->items()) {
    std::string text = spelled(value);
    if (seen.insert(text).second) values.push_back(std::move(text));
  }
  if (values.size() > kMaxUniqueValues)
    return fail(slot.path, concat("'uniqueItems' of more than ", kMaxUniqueValues, " values"));
  const int32_t open = add_whitespace(builder_.add_byte(slot.from, '[', '[')), close = builder_.add_state();
  builder_.add_bytes(close, ']', ']', slot.to);
  const auto limit = static_cast<size_t>(std::min<int64_t>(most, static_cast<int64_t>(values.size())));
  std::vector<int32_t> counts(limit + 1);  // states by number of items so far, before the value of the outer loop
  for (int32_t& state : counts) state = builder_.add_state();
  builder_.add_jump(open, counts[0]);
  for (size_t i = 0; i <= values.size() && is_ok(); ++i) {
    for (size_t count = 0; count <= limit; ++count) {
      if (static_cast<int64_t>(count) >= least) {
        if (count == 0) builder_.add_jump(counts[0], close);
        else builder_.add_jump(add_whitespace(counts[count]), close);
      }
    }
    if (i == values.size()) break;
    std::vector<int32_t> next(limit + 1);
    for (size_t count = 0; count <= limit; ++count) {
      next[count] = builder_.add_state();
      builder_.add_jump(counts[count], next[count]);
    }
    for (size_t count = 0; count < limit; ++count) {
      const int32_t from = count == 0 ? counts[0] : add_whitespace(builder_.add_byte(counts[count], ',', ','));
      builder_.add_literal(from, values[i], next[count + 1]);
    }
    counts = std::move(next);
  }
}

// Integers of up to kDefaultDigits digits by their remainder; those of a short range one by one.
void SchemaCompiler::add_multiples(const Json& schema, const Json& factor, const Slot& slot) {
  const int64_t step = factor.is_integer() ? factor.as_integer() : 0;
  if (step < 1 || step > kMaxFactor)
    return fail(slot.path, concat("'multipleOf' can be a whole number from 1 to ", kMaxFactor, " only"));
  int64_t low = INT64_MIN, high = INT64_MAX;
  for (const char* key : {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
    const Json* bound = schema.find(key);
    if (!bound) continue;
    if (!bound->is_integer())
      return fail(slot.path, std::string("'multipleOf' beside a '") + key + "' that is no whole number");
    const int64_t value = bound->as_integer();
    const std::string_view name = key;
    if ((name == "exclusiveMinimum" && value == INT64_MAX) || (name == "exclusiveMaximum" && value == INT64_MIN))
      return fail(slot.path, std::string("'") + key + "' leaves no number of 64 bits");
    if (name == "minimum") low = std::max(low, value);
    if (name == "exclusiveMinimum") low = std::max(low, value + 1);
    if (name == "maximum") high = std::min(high, value);
    if (name == "exclusiveMaximum") high = std::min(high, value - 1);
  }
  // The distance of two signed numbers fits an unsigned one; sums beyond `high` are never formed.
  const uint64_t distance = low <= high ? static_cast<uint64_t>(high) - static_cast<uint64_t>(low) : 0;
  if (low > INT64_MIN && high < INT64_MAX && distance / static_cast<uint64_t>(step) <= 4096) {
    const int64_t first = (step - (low % step + step) % step) % step;  // from `low` to the first multiple
    if (low > high || static_cast<uint64_t>(first) > distance) return;
    for (uint64_t at = static_cast<uint64_t>(first); at <= distance && is_ok(); at += static_cast<uint64_t>(step))
      builder_.add_literal(slot.from, std::to_string(low + static_cast<int64_t>(at)), slot.to);
    return;
  }
  if ((low > INT64_MIN && low > 0) || (high < INT64_MAX && high < 0) || (low > INT64_MIN && low < 0) ||
      high < INT64_MAX)
    return fail(slot.path, "'multipleOf' with so wide a range is not supported");
  const bool has_negative = low == INT64_MIN;
  builder_.add_bytes(slot.from, '0', '0', slot.to);
  const int32_t sign = has_negative ? builder_.add_byte(slot.from, '-', '-') : -1;
  std::vector<int32_t> states;  // by remainder, after the digits so far
  for (size_t digits = 1; digits <= kDefaultDigits; ++digits) {
    std::vector<int32_t> next(static_cast<size_t>(step));
    for (int32_t& state : next) state = builder_.add_state();
    builder_.add_jump(next[0], slot.to);
    for (int64_t before = 0; before < (digits == 1 ? 1 : step) && is_ok(); ++before) {
      for (int digit = digits == 1 ? 1 : 0; digit <= 9; ++digit) {
        const auto byte = static_cast<uint8_t>('0' + digit);
        const int32_t to = next[(before * 10 + digit) % step];
        if (digits > 1) builder_.add_bytes(states[before], byte, byte, to);
        else builder_.add_bytes(slot.from, byte, byte, to);
        if (digits == 1 && has_negative) builder_.add_bytes(sign, byte, byte, to);
      }
    }
    states = std::move(next);
  }
}

}  // namespace pagoda::grammar
