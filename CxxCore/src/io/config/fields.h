// ConfigFields: typed, range-checked access to the keys of one JSON object; keeps the first error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pagoda::io {

// Reads many keys in a row: after an error every call returns a value in range, so that the code that follows needs
// no check until it calls status(). A key whose value is null counts as absent, as in transformers.
class ConfigFields {
 public:
  // `object` must outlive this; `where` starts every message: the file, and the path to a nested object.
  ConfigFields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  const Json* find(std::string_view key) const noexcept;                                  // null if absent or null
  bool has(std::string_view key) const noexcept { return object_.find(key) != nullptr; }  // even if it is null
  int32_t integer(std::string_view key, int32_t min, int32_t max, std::optional<int32_t> fallback = std::nullopt);
  double number(std::string_view key, double min, double max, std::optional<double> fallback = std::nullopt);
  bool boolean(std::string_view key, bool fallback);
  std::string string(std::string_view key, std::string_view fallback);
  std::vector<int32_t> ids(std::string_view key, int32_t max);  // an integer or a list of integers; empty if absent

  void fail(std::string_view key, const std::string& reason, StatusCode code = StatusCode::bad_file);
  void check(bool holds, std::string_view key, const std::string& reason) {
    if (!holds) fail(key, reason);
  }
  void adopt(const Status& status) {  // takes over the error of a nested object
    if (status_.is_ok()) status_ = status;
  }
  bool is_ok() const noexcept { return status_.is_ok(); }
  const Status& status() const noexcept { return status_; }
  const std::string& where() const noexcept { return where_; }

 private:
  const Json& object_;
  std::string where_;
  Status status_;
};

}  // namespace pagoda::io
