// The arguments of a call in XML: each member of the object between tags, strings raw, everything else as JSON.
#include <array>

#include "grammar/characters.h"
#include "grammar/free_text.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"
#include "text/output/tool_list.h"

namespace pagoda::grammar {

using io::Json;

constexpr std::string_view kParameterEnd = "\n</parameter>\n";

Result<Rule> SchemaCompiler::compile_parameters() {
  const Rule rule = builder_.add_rule();
  const Json* schema = &root_;
  if (const Json* reference = schema->find("$ref")) schema = resolve(reference->as_string(), "");
  if (schema && schema->find("allOf")) {
    const Json* merged = keep(without(*schema, "allOf"));
    for (const Json& part : schema->find("allOf")->items()) {
      if (merged) merged = merge(*merged, part, "/allOf");
    }
    schema = merged;
  }
  if (!schema) return status_;
  for (const char* keyword : {"anyOf", "oneOf", "enum", "const"}) {
    if (schema->find(keyword)) fail("", std::string("'") + keyword + "' is not supported for all arguments together");
  }
  if (schema->is_object() && !check_keywords(*schema, "")) return status_;
  int32_t at = rule.start;
  for (const Property& property : properties_of(*schema, "")) {
    if (!is_ok()) break;
    const int32_t next = builder_.add_state();
    const int32_t value = builder_.add_literal(at, "<parameter=" + property.name + ">\n");
    leading_rule_ = -1;
    add_parameter(*property.schema, {value, next, "/properties/" + property.name, 1});
    if (!property.is_required) builder_.add_jump(at, next);
    at = next;
  }
  builder_.add_jump(at, rule.end);
  PAGODA_RETURN_IF_ERROR(check_rules());
  return rule;
}

// A value and the tag that ends it. Text that the call parser reads as a string is a string, even if it looks like
// JSON.
void SchemaCompiler::add_parameter(const Json& schema, const Slot& slot) {
  const Json* reference = schema.find("$ref");
  const Json* target = reference ? resolve(reference->as_string(), slot.path) : &schema;
  if (!target) return;
  Slot value = slot;
  value.to = builder_.add_state();
  builder_.add_literal(value.to, kParameterEnd, slot.to);
  if (!text::parameter_kind(*target).may_be_string) return add_value(schema, value);
  for (const char* keyword : {"anyOf", "oneOf"}) {
    const Json* parts = target->find(keyword);
    if (!parts) continue;
    for (const Json& part : parts->items()) {
      const text::ParameterKind kind = text::parameter_kind(part);
      if (kind.may_be_string) add_raw_string(part, value, slot.to);
      else if (kind.may_be_null && !kind.may_be_json) builder_.add_literal(value.from, "null", value.to);
    }
    return;
  }
  add_raw_string(*target, value, slot.to);
}

void SchemaCompiler::add_raw_string(const Json& schema, const Slot& slot, int32_t behind_tag) {
  const Json* one = schema.find("const");
  const Json* list = schema.find("enum");
  if (text::parameter_kind(schema).may_be_null) builder_.add_literal(slot.from, "null", slot.to);
  if (one || list) {
    const std::vector<Json> values = one ? std::vector<Json>{*one} : list->items();
    for (const Json& value : values) {
      const bool fits = value.is_string() && value.as_string().find('<') == std::string::npos;
      if (fits && !value.as_string().empty()) builder_.add_literal(slot.from, value.as_string(), slot.to);
      else if (fits) builder_.add_jump(slot.from, slot.to);
    }
    return;
  }
  const Json* pattern = schema.find("pattern");
  const Json* format = schema.find("format");
  const bool is_counted = schema.find("minLength") || schema.find("maxLength");
  if (pattern || format || is_counted) {
    int64_t least, most;
    if (!read_count(schema, "minLength", slot.path, 0, least) ||
        !read_count(schema, "maxLength", slot.path, INT64_MAX, most))
      return;
    const Json& named = pattern ? *pattern : format ? *format : schema;
    const std::string_view known = format && !pattern ? format_pattern(named.as_string()) : std::string_view();
    if (format && known.empty() && !pattern && !is_counted)
      return fail(slot.path, "format '" + named.as_string() + "' is not supported");
    const std::string expression = pattern ? pattern->as_string() : known.empty() ? "^[\\s\\S]*$" : std::string(known);
    const Result<Pattern> compiled = compile_pattern(expression);
    if (!compiled.is_ok()) return fail(slot.path, "'pattern' " + compiled.status.message);
    return add_pattern(*compiled, least, most, /*is_raw=*/true, slot);
  }
  const std::array<EndWord, 6> words{{{kParameterEnd, behind_tag},
                                      {"</parameter>", -1},
                                      {"</function", -1},
                                      {"</tool_call", -1},
                                      {"<tool_call", -1},
                                      {"\n<parameter=", -1}}};
  add_free_text(builder_, slot.from, words);
}

}  // namespace pagoda::grammar
