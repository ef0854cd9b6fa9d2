// The arguments of a call in XML: each member of the object between tags, strings raw, everything else as JSON.
#include <algorithm>

#include "base/quoted.h"
#include "grammar/parameter_text.h"
#include "grammar/schema/compiler.h"
#include "grammar/schema/keywords.h"
#include "text/output/parameter_kind.h"

namespace pagoda::grammar {

using io::Json;

constexpr size_t kMaxParameterNameBytes = 256;  // the call parser's limit

// Whether the call parser reads the name as it is.
static bool is_parameter_name(const std::string& name) {
  const std::string_view around = " \t\r\n\"'";
  return !name.empty() && name.size() <= kMaxParameterNameBytes && name.find_first_of("<>\n") == std::string::npos &&
         around.find(name.front()) == std::string_view::npos && around.find(name.back()) == std::string_view::npos;
}

Result<Rule> SchemaCompiler::compile_parameters() {
  is_in_parameters_ = true;
  const Rule rule = builder_.add_rule();
  const Json* schema = &root_;
  if (root_.find("$ref") || root_.find("allOf")) schema = combine(root_, "", nullptr, "", 0);
  if (!schema || (schema->is_object() && !check_keywords(*schema, ""))) return status_;
  for (const char* keyword : {"anyOf", "oneOf", "enum", "const", "patternProperties", "propertyNames"}) {
    if (schema->find(keyword)) fail("", std::string("'") + keyword + "' is not supported for all arguments together");
  }
  int64_t least;
  if (!is_ok() || !read_count(*schema, "minProperties", "", 0, least)) return status_;
  const std::vector<Property> properties = properties_of(*schema, "");
  // `none`: no member was written yet, and at least one must be.
  const bool needs_one = least == 1 && std::ranges::none_of(properties, &Property::is_required);
  if (least > std::max<int64_t>(1, std::ranges::count_if(properties, &Property::is_required)))
    fail("", "'minProperties' beyond 1 and the required ones is not supported");
  int32_t at = rule.start, none = needs_one ? rule.start : -1;
  if (needs_one) at = builder_.add_state();
  for (const Property& property : properties) {
    if (!is_ok()) break;
    if (!is_parameter_name(property.name))
      fail("/properties", io::quoted(property.name) + " cannot be written as the name of a parameter");
    const int32_t next = builder_.add_state();
    const int32_t name = builder_.add_state();
    const int32_t value = builder_.add_literal(name, "<parameter=" + property.name + ">");
    builder_.add_jump(at, name);
    leading_rule_ = -1;
    add_parameter(property, value, next);
    if (!property.is_required) builder_.add_jump(at, next);
    at = next;
    if (none < 0) continue;
    const int32_t still_none = builder_.add_state();
    builder_.add_jump(none, name);
    builder_.add_jump(none, still_none);
    none = still_none;
  }
  builder_.add_jump(at, rule.end);
  PAGODA_RETURN_IF_ERROR(check_rules());
  return rule;
}

// A value and the tag that ends it, written as the call parser will read it: raw text where it makes strings.
void SchemaCompiler::add_parameter(const Property& property, int32_t from, int32_t to) {
  const text::ParameterKind kind = text::parameter_kind(root_, property.name);
  const std::string path = "/properties/" + property.name;
  if (!budget().spend(kind.num_steps)) return fail(path, budget().status().message);
  if (!kind.is_exact) return fail(path, "has too many alternatives");
  const ParameterSlot frame = add_parameter_frame(builder_, from, to);
  Slot slot{frame.from, frame.to, path, 1};
  if (kind.may_be_string || kind.is_open) slot.raw = &kind;
  add_value(*property.schema, slot);
}

}  // namespace pagoda::grammar
