// JSON values and a strict parser with depth and size limits: the only JSON reader in the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace pagoda::io {

class Json;
class JsonParser;
using JsonMember = std::pair<std::string, Json>;

// Numbers remember whether they were written as an integer that fits int64; objects keep their key order.
// An accessor of the wrong kind returns false, 0 or an empty value.
class Json {
 public:
  enum class Kind : uint8_t { null, boolean, integer, real, string, array, object };

  Json() = default;
  Kind kind() const noexcept { return static_cast<Kind>(value_.index()); }
  bool is_null() const noexcept { return kind() == Kind::null; }
  bool is_bool() const noexcept { return kind() == Kind::boolean; }
  bool is_integer() const noexcept { return kind() == Kind::integer; }
  bool is_number() const noexcept { return kind() == Kind::integer || kind() == Kind::real; }
  bool is_string() const noexcept { return kind() == Kind::string; }
  bool is_array() const noexcept { return kind() == Kind::array; }
  bool is_object() const noexcept { return kind() == Kind::object; }

  bool as_bool() const noexcept;
  int64_t as_integer() const noexcept;  // 0 for a real number
  double as_double() const noexcept;    // valid for integers and reals
  const std::string& as_string() const noexcept;
  const std::vector<Json>& items() const noexcept;          // array elements
  const std::vector<JsonMember>& members() const noexcept;  // object members, in file order
  const Json* find(std::string_view key) const noexcept;    // null if absent or not an object; linear search

  static Json make_bool(bool value) { return Json(Value(value)); }
  static Json make_integer(int64_t value) { return Json(Value(value)); }
  static Json make_real(double value) { return Json(Value(value)); }
  static Json make_string(std::string value) { return Json(Value(std::move(value))); }
  static Json make_array(std::vector<Json> items) { return Json(Value(std::move(items))); }
  static Json make_object(std::vector<JsonMember> members);

 private:
  friend class JsonParser;
  // In the order of Kind. 40 bytes with libstdc++; strings are stored inline, so that short ones (most of a
  // vocabulary) need no allocation.
  using Value =
      std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<Json>, std::vector<JsonMember>>;
  explicit Json(Value value) noexcept : value_(std::move(value)) {}

  Value value_;
};

struct JsonLimits {
  int max_depth = 128;  // nesting of arrays and objects; at most kMaxJsonDepth
  bool reject_duplicate_keys = true;
  size_t max_values = 20'000'000;  // nodes of the tree
};

// Parsing and destroying a tree recurse once per level, so no limit may exceed this.
inline constexpr int kMaxJsonDepth = 1024;

// Rejects invalid UTF-8, lone surrogates, NaN, numbers outside the range of double, duplicate keys and trailing bytes.
// Fails with bad_file; the message gives the byte offset.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace pagoda::io
