// JSON values and a strict parser with depth and size limits: the one reader of JSON in the core.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pagoda::io {

class Json;
using JsonMember = std::pair<std::string, Json>;

// Numbers keep whether they were written as an integer that fits int64; objects keep the order of their keys.
class Json {
 public:
  enum class Kind : uint8_t { null, boolean, integer, real, string, array, object };

  Json() = default;
  Kind kind() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == Kind::null; }
  bool is_bool() const noexcept { return kind_ == Kind::boolean; }
  bool is_integer() const noexcept { return kind_ == Kind::integer; }
  bool is_number() const noexcept { return kind_ == Kind::integer || kind_ == Kind::real; }
  bool is_string() const noexcept { return kind_ == Kind::string; }
  bool is_array() const noexcept { return kind_ == Kind::array; }
  bool is_object() const noexcept { return kind_ == Kind::object; }

  bool as_bool() const noexcept { return integer_ != 0; }
  int64_t as_integer() const noexcept { return integer_; }
  double as_double() const noexcept { return kind_ == Kind::integer ? static_cast<double>(integer_) : real_; }
  const std::string& as_string() const noexcept { return string_; }
  const std::vector<Json>& items() const noexcept { return items_; }            // of an array
  const std::vector<JsonMember>& members() const noexcept { return members_; }  // of an object, in file order
  const Json* find(std::string_view key) const noexcept;                        // null if absent or not an object

  static Json make_bool(bool value);
  static Json make_integer(int64_t value);
  static Json make_real(double value);
  static Json make_string(std::string value);
  static Json make_array(std::vector<Json> items);
  static Json make_object(std::vector<JsonMember> members);

 private:
  Kind kind_ = Kind::null;
  int64_t integer_ = 0;
  double real_ = 0;
  std::string string_;
  std::vector<Json> items_;
  std::vector<JsonMember> members_;
};

struct JsonLimits {
  int max_depth = 128;
  bool reject_duplicate_keys = true;
  size_t max_values = 20'000'000;  // nodes of the tree
};

// Refuses: invalid UTF-8, lone surrogates, NaN, numbers outside double, duplicate keys, trailing bytes. Messages give the offset.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace pagoda::io
