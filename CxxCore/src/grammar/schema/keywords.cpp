// Tables of keywords and formats.
#include "grammar/schema/keywords.h"

#include <algorithm>

#include "base/schema_types.h"

namespace pagoda::grammar {
namespace {

using io::Json;

constexpr std::string_view kOtherKeywords[] = {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "nullable"};
constexpr std::string_view kNotes[] = {
    "$schema",       "$id",          "$comment",         "$defs",      "definitions", "title",      "description",
    "default",       "examples",     "example",          "readOnly",   "writeOnly",   "deprecated", "contentEncoding",
    "discriminator", "externalDocs", "contentMediaType", "$vocabulary"};

struct Format {
  std::string_view name, pattern;
};
constexpr std::string_view kDate =
    "^[1-9]\\d{3}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))$";
constexpr std::string_view kTime =
    "^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$";
constexpr std::string_view kDateTime =
    "^[1-9]\\d{3}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))"
    "T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$";
constexpr std::string_view kPath = "^/?[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*/?$";
// Formats that are aliases or subsets of another one.
constexpr Format kAliases[] = {
    {"url", "uri"}, {"iri", "uri"}, {"http-url", "uri"}, {"idn-email", "email"}, {"idn-hostname", "hostname"}};
constexpr Format kFormats[] = {
    {"date", kDate},
    {"time", kTime},
    {"date-time", kDateTime},
    {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    {"email", "^[A-Za-z0-9]+([._+-][A-Za-z0-9]+)*@[A-Za-z0-9]+(-[A-Za-z0-9]+)*(\\.[A-Za-z0-9]+(-[A-Za-z0-9]+)*)+$"},
    {"hostname", "^[A-Za-z0-9]{1,63}(-[A-Za-z0-9]{1,20})?(\\.[A-Za-z0-9]{1,63}){0,2}$"},
    {"ipv4", "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$"},
    {"ipv6", "^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$"},
    {"duration",
     "^P(\\d{1,6}D(T\\d{1,6}H(\\d{1,6}M(\\d{1,6}S)?)?)?|T\\d{1,6}H(\\d{1,6}M(\\d{1,6}S)?)?|T\\d{1,6}M(\\d{1,6}S)?|T\\d{"
     "1,6}S|\\d{1,6}[YMW])$"},
    {"uuid4", "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"},
    {"ipvanyaddress", "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$"},
    {"byte", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
    {"json-pointer", "^(/[A-Za-z0-9_.-]*)*$"},
    {"regex", "^[A-Za-z0-9 _-]*$"},
    {"color", "^#[0-9a-f]{6}$"},
    {"path", kPath},
    {"file-path", kPath},
    {"directory-path", kPath},
    {"uri-reference", "^(/[A-Za-z0-9._~-]+)+/?(\\?[A-Za-z0-9._~=&-]*)?(#[A-Za-z0-9._~-]*)?$"},
    {"uri",
     "^[a-z][a-z0-9+.-]*://[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*(:\\d{1,5})?(/[A-Za-z0-9._~-]*)*"
     "(\\?[A-Za-z0-9._~=&-]*)?(#[A-Za-z0-9._~-]*)?$"},
};

template <class Table>
bool holds(const Table& table, std::string_view word) noexcept {
  return std::ranges::find(table, word) != std::end(table);
}

}  // namespace

Keyword classify(std::string_view keyword) noexcept {
  if (!io::implied_type(keyword).empty() || holds(kOtherKeywords, keyword)) return Keyword::enforced;
  return holds(kNotes, keyword) || keyword.starts_with("x-") ? Keyword::note : Keyword::unknown;
}

bool is_idle(std::string_view keyword, const Json& value) noexcept {
  if (keyword == "minContains") return value.is_integer() && value.as_integer() == 0;
  return (keyword == "unevaluatedProperties" || keyword == "unevaluatedItems") && value.is_bool() && value.as_bool();
}

bool has_constraints(const Json& schema, std::string_view except) noexcept {
  return std::ranges::any_of(schema.members(), [&](const io::JsonMember& member) {
    return member.first != except && classify(member.first) == Keyword::enforced;
  });
}

std::string_view format_pattern(std::string_view format) noexcept {
  for (const Format& alias : kAliases) {
    if (alias.name == format) format = alias.pattern;
  }
  for (const Format& entry : kFormats) {
    if (entry.name == format) return entry.pattern;
  }
  return {};
}

}  // namespace pagoda::grammar
