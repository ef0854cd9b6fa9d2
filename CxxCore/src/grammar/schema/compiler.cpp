// The walk over a schema: references, combinations and choices down to single types, and the parts all schemas share.
#include "grammar/schema/compiler.h"

#include <algorithm>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/quoted.h"
#include "base/schema_types.h"
#include "grammar/schema/keywords.h"
#include "grammar/schema/numbers.h"

namespace pagoda::grammar {

using io::Json;

constexpr int kMaxSpaces = 32, kMaxTabs = 8;  // in an indentation
constexpr int kMaxLeadingNewlines = 2;        // models write them between their thinking and the answer
constexpr size_t kMaxPathBytes = 400;         // every rule has one: names of any length would be copied for each
constexpr size_t kMaxTypes = 16;              // names in a 'type'; there are seven

// Control characters of names are not shown: messages may be printed at a terminal.
void SchemaCompiler::fail(const std::string& path, const std::string& reason) {
  if (!status_.is_ok()) return;
  std::string shown = path;
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  status_ = make_error(StatusCode::invalid_argument, "schema at #" + shown + ": " + reason);
}

std::string SchemaCompiler::longer_path(const std::string& path, std::string_view step) {
  if (path.ends_with("/...")) return path;
  return concat(path, "/", path.size() + step.size() > kMaxPathBytes ? "..." : step);
}

SchemaCompiler::Slot SchemaCompiler::inside(const Slot& slot, const std::string& step, int32_t from, int32_t to) const {
  return {from, to, longer_path(slot.path, step), slot.depth + 1};
}

Result<Grammar> SchemaCompiler::compile(const Json& root, CompileBudget& budget) {
  GrammarBuilder builder(budget);
  PAGODA_ASSIGN_OR_RETURN(const Rule value, SchemaCompiler(root, builder).compile_value());
  return finish(value, builder);
}

Result<Rule> SchemaCompiler::compile_value() {
  const size_t root = rule_of(root_, "");
  PAGODA_RETURN_IF_ERROR(check_rules());
  return rules_[root].rule;
}

Status SchemaCompiler::check_rules() {
  compile_rules();
  if (is_ok()) check_leads();
  return status_;
}

Result<Grammar> SchemaCompiler::compile_any_object(CompileBudget& budget) {
  const Json any = Json::make_object({});
  GrammarBuilder builder(budget);
  SchemaCompiler compiler(any, builder);
  const Rule object = builder.add_rule();
  compiler.add_any_object(object.start, object.end);
  return finish(object, builder);
}

Result<Grammar> SchemaCompiler::finish(Rule value, GrammarBuilder& builder) {
  const Rule document = builder.add_rule();
  int32_t from = document.start;
  builder.add_call(from, value, document.end);
  for (int i = 0; i < kMaxLeadingNewlines; ++i) {
    from = builder.add_byte(from, '\n', '\n');
    builder.add_call(from, value, document.end);
  }
  return builder.build(document);
}

void SchemaCompiler::compile_rules() {
  for (size_t i = 0; i < rules_.size() && is_ok(); ++i) {
    leading_rule_ = static_cast<std::ptrdiff_t>(i);
    const NamedRule rule = rules_[i];
    add_value(*rule.schema, {rule.rule.start, rule.rule.end, rule.path, 0});
  }
}

// A rule that may start with itself before any byte would recurse forever.
void SchemaCompiler::check_leads() {
  std::vector<char> marks(rules_.size(), 0);  // 1: on the current path, 2: done
  for (size_t first = 0; first < rules_.size(); ++first) {
    std::vector<std::pair<size_t, size_t>> way{{first, 0}};  // rule, next of its leads
    while (!way.empty()) {
      auto& [rule, next] = way.back();
      if (marks[rule] == 2 || next == rules_[rule].leads.size()) {
        marks[rule] = 2;
        way.pop_back();
        continue;
      }
      marks[rule] = 1;
      const size_t lead = rules_[rule].leads[next++];
      if (marks[lead] == 1) return fail(rules_[lead].path, "refers to itself with nothing between");
      if (marks[lead] == 0) way.push_back({lead, 0});
    }
  }
}

Rule SchemaCompiler::whitespace() {
  if (whitespace_.start >= 0) return whitespace_;
  whitespace_ = builder_.add_rule();
  builder_.add_jump(whitespace_.start, whitespace_.end);
  builder_.add_bytes(whitespace_.start, ' ', ' ', whitespace_.end);
  const int32_t newline = builder_.add_byte(whitespace_.start, '\n', '\n');
  builder_.add_jump(newline, whitespace_.end);
  for (const auto& [byte, most] : {std::pair<char, int>{' ', kMaxSpaces}, {'\t', kMaxTabs}}) {
    int32_t from = newline;
    for (int i = 0; i < most; ++i) {
      from = builder_.add_byte(from, static_cast<uint8_t>(byte), static_cast<uint8_t>(byte));
      builder_.add_jump(from, whitespace_.end);
    }
  }
  return whitespace_;
}

Rule SchemaCompiler::any_value() {
  if (any_value_.start >= 0) return any_value_;
  any_value_ = builder_.add_rule();
  const auto [start, end] = any_value_;
  for (const char* word : {"true", "false", "null"}) builder_.add_literal(start, word, end);
  add_any_number(builder_, start, end);
  builder_.add_call(start, any_string(), end);
  add_any_object(start, end);
  add_any_array(start, end);
  return any_value_;
}

int32_t SchemaCompiler::add_colon(int32_t from) {
  const int32_t colon = builder_.add_byte(from, ':', ':'), value = builder_.add_byte(colon, ' ', ' ');
  builder_.add_jump(colon, value);
  return value;
}

void SchemaCompiler::add_any_object(int32_t from, int32_t to) {
  const int32_t open = add_whitespace(builder_.add_byte(from, '{', '{'));
  builder_.add_bytes(open, '}', '}', to);
  const int32_t key_end = builder_.add_call(open, any_string());
  const int32_t value_end = builder_.add_call(add_colon(key_end), any_value());
  builder_.add_call(add_whitespace(builder_.add_byte(value_end, ',', ',')), any_string(), key_end);
  builder_.add_bytes(add_whitespace(value_end), '}', '}', to);
}

void SchemaCompiler::add_any_array(int32_t from, int32_t to) {
  const int32_t open = add_whitespace(builder_.add_byte(from, '[', '['));
  builder_.add_bytes(open, ']', ']', to);
  const int32_t item_end = builder_.add_call(open, any_value());
  builder_.add_call(add_whitespace(builder_.add_byte(item_end, ',', ',')), any_value(), item_end);
  builder_.add_bytes(add_whitespace(item_end), ']', ']', to);
}

size_t SchemaCompiler::rule_of(const Json& schema, const std::string& path) {
  const auto [found, is_new] = rule_ids_.try_emplace(&schema, rules_.size());
  if (is_new) rules_.push_back({builder_.add_rule(), &schema, path.size() > kMaxPathBytes ? "/..." : path, {}});
  return found->second;
}

void SchemaCompiler::call_rule(const Slot& slot, size_t rule) {
  if (leading_rule_ >= 0) rules_[leading_rule_].leads.push_back(rule);
  builder_.add_call(slot.from, rules_[rule].rule, slot.to);
}

void SchemaCompiler::add_value(const Json& schema, const Slot& slot) {
  if (!is_ok()) return;
  if (slot.depth > kMaxSchemaDepth) return fail(slot.path, concat("nested deeper than ", kMaxSchemaDepth, " schemas"));
  if (schema.is_bool()) {
    if (schema.as_bool()) builder_.add_call(slot.from, slot.raw ? any_text() : any_value(), slot.to);
    return;  // the schema `false` allows no value
  }
  if (!schema.is_object()) return fail(slot.path, "a schema is an object, true or false");
  if (!check_keywords(schema, slot.path)) return;
  if (add_reference(schema, slot) || add_alternatives(schema, slot)) return;
  const Json* nullable = schema.find("nullable");
  if (nullable && nullable->as_bool()) builder_.add_literal(slot.from, "null", slot.to);
  if (add_listed_values(schema, slot)) return;
  const std::vector<std::string> types = io::schema_types(schema);
  if (types.empty()) return builder_.add_call(slot.from, slot.raw ? any_text() : any_value(), slot.to);
  for (const std::string& type : types) {
    const bool is_written = !slot.raw || type == "string" || type == "null";  // raw text is never another type
    if (is_written) add_type(type, schema, slot);
  }
}

bool SchemaCompiler::check_keywords(const Json& schema, const std::string& path) {
  for (const io::JsonMember& member : schema.members()) {
    if (classify(member.first) != Keyword::unknown || is_idle(member.first, member.second)) continue;
    fail(path, "keyword " + io::quoted(member.first) + " is not supported");
    return false;
  }
  const auto is_word = [](const Json& item) { return item.is_string(); };
  const Json* type = schema.find("type");
  if (type && type->items().size() > kMaxTypes)  // lists are compared name by name
    return fail(path, concat("'type' has more than ", kMaxTypes, " names")), false;
  if (type && !type->is_string() && (type->items().empty() || !std::ranges::all_of(type->items(), is_word))) {
    fail(path, "'type' is a name or a list of names");
    return false;
  }
  return true;
}

void SchemaCompiler::add_type(std::string_view type, const Json& schema, const Slot& slot) {
  const std::ptrdiff_t leading = leading_rule_;
  leading_rule_ = -1;  // everything that follows comes after a byte
  if (type == "object") add_object(schema, slot);
  else if (type == "array") add_array(schema, slot);
  else if (type == "string") add_string(schema, slot);
  else if (type == "number") add_number(schema, /*is_integer=*/false, slot);
  else if (type == "integer") add_number(schema, /*is_integer=*/true, slot);
  else if (type == "boolean")
    builder_.add_literal(slot.from, "true", slot.to), builder_.add_literal(slot.from, "false", slot.to);
  else if (type == "null") builder_.add_literal(slot.from, "null", slot.to);
  else fail(slot.path, "unknown type " + io::quoted(type));
  leading_rule_ = leading;
}

}  // namespace pagoda::grammar
