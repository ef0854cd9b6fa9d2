// Typed access to the keys of config.json.
#include "io/config/fields.h"

#include <sstream>

#include "base/concat.h"
#include "base/quoted.h"

namespace pagoda::io {
namespace {

std::string range_text(double min, double max) {
  std::ostringstream text;
  text << "from " << min << " to " << max;
  return text.str();
}

bool is_integer_in(const Json& value, int64_t min, int64_t max) noexcept {
  return value.is_integer() && value.as_integer() >= min && value.as_integer() <= max;
}

}  // namespace

const Json* ConfigFields::find(std::string_view key) const noexcept {
  const Json* value = object_.find(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

void ConfigFields::fail(std::string_view key, const std::string& reason, StatusCode code) {
  if (status_.is_ok()) status_ = make_error(code, where_ + ": " + std::string(key) + " " + reason);
}

int32_t ConfigFields::integer(std::string_view key, int32_t min, int32_t max, std::optional<int32_t> fallback) {
  const Json* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr) return fail(key, "is missing"), min;
  if (!is_integer_in(*value, min, max)) {
    return fail(key, concat("is not an integer from ", min, " to ", max)), min;
  }
  return static_cast<int32_t>(value->as_integer());
}

double ConfigFields::number(std::string_view key, double min, double max, std::optional<double> fallback) {
  const Json* value = find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr) return fail(key, "is missing"), min;
  if (!value->is_number() || !(value->as_double() >= min && value->as_double() <= max)) {
    return fail(key, "is not a number " + range_text(min, max)), min;
  }
  return value->as_double();
}

bool ConfigFields::boolean(std::string_view key, bool fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  check(value->is_bool(), key, "is neither true nor false");
  return value->as_bool();
}

std::string ConfigFields::string(std::string_view key, std::string_view fallback) {
  const Json* value = find(key);
  if (value == nullptr) return std::string(fallback);
  check(value->is_string(), key, "is not a string");
  return value->as_string();
}

std::vector<int32_t> ConfigFields::ids(std::string_view key, int32_t max) {
  constexpr size_t kMaxIds = 1024;
  const Json* value = find(key);
  std::vector<int32_t> found;
  if (value == nullptr) return found;
  const auto add = [&](const Json& id) {
    check(is_integer_in(id, 0, max), key, concat("has a token id that is not an integer from 0 to ", max));
    if (is_ok()) found.push_back(static_cast<int32_t>(id.as_integer()));
  };
  if (!value->is_array()) {
    add(*value);
  } else if (value->items().size() > kMaxIds) {
    fail(key, concat("has more than ", kMaxIds, " ids"));
  } else {
    for (const Json& id : value->items()) add(id);
  }
  return found;
}

}  // namespace pagoda::io
