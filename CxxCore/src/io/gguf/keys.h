// Keys: the metadata of a GGUF model under its architecture's name; Members: a JSON object under construction.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/json.h"
#include "base/quoted.h"
#include "io/gguf/gguf.h"

namespace pagoda::io {

// An architecture of GGUF, with its names in Hugging Face's config.json.
struct Architecture {
  std::string_view name, hugging_face, model_type;
  bool is_hybrid, has_experts;
};

// A tensor and the part of the model it is in; both null if there is none.
struct PartTensor {
  const Gguf* part = nullptr;
  const GgufTensor* tensor = nullptr;
};

// Keys of a model's first part, under its architecture's name, as members of a JSON object, and the tensors of all its
// parts, of which the first may have none. Keeps the first error.
class Keys {
 public:
  Keys(std::span<const Gguf> parts, const Architecture& architecture)
      : parts_(parts), architecture_(architecture), prefix_(std::string(architecture.name) + ".") {}

  std::optional<int64_t> find(const std::string& key) {
    const std::string name = prefix_ + key;
    if (!gguf().has(name)) return std::nullopt;
    std::optional<int64_t> value = gguf().integer(name);
    if (const auto list = gguf().integers(name); !value && list && !list->empty()) {  // a value for each layer
      if (std::ranges::all_of(*list, [&](int64_t v) { return v == list->front(); })) value = list->front();
    }
    if (!value) fail(name, "is not one integer for all layers");
    return value;
  }
  int64_t positive(const std::string& key, std::optional<int64_t> fallback = std::nullopt) {
    const auto value = find(key);
    if (!value && fallback) return *fallback;
    constexpr int64_t kMost = 1 << 24;  // the largest size allowed; products of two sizes fit in 64 bits
    if (value && *value > 0 && *value <= kMost) return *value;
    fail(prefix_ + key, value ? concat("is ", *value) : "is missing");
    return 1;
  }
  void fail(const std::string& key, const std::string& what) {
    if (status_.is_ok())
      status_ = make_error(StatusCode::bad_file, gguf().file()->name() + ": " + io::quoted(key) + " " + what);
  }

  PartTensor tensor(const std::string& name) const {
    for (const Gguf& part : parts_)
      if (const auto found = part.tensors().find(name); found != part.tensors().end()) return {&part, &found->second};
    return {};
  }
  bool has_tensor(const std::string& name) const { return tensor(name).tensor != nullptr; }

  const Gguf& gguf() const noexcept { return parts_.front(); }
  std::span<const Gguf> parts() const noexcept { return parts_; }
  const Architecture& architecture() const noexcept { return architecture_; }
  const std::string& prefix() const noexcept { return prefix_; }
  const Status& status() const noexcept { return status_; }

 private:
  std::span<const Gguf> parts_;
  const Architecture& architecture_;
  std::string prefix_;
  Status status_;
};

class Members {
 public:
  void add(const char* key, int64_t value) { list_.emplace_back(key, Json::make_integer(value)); }
  void add(const char* key, double value) { list_.emplace_back(key, Json::make_real(value)); }
  void add(const char* key, bool value) { list_.emplace_back(key, Json::make_bool(value)); }
  void add(const char* key, std::string_view value) { list_.emplace_back(key, Json::make_string(std::string(value))); }
  void add(const char* key, Json value) { list_.emplace_back(key, std::move(value)); }
  Json take() { return Json::make_object(std::move(list_)); }

 private:
  std::vector<JsonMember> list_;
};

}  // namespace pagoda::io
