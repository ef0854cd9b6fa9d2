// Gguf: reads and validates the header of one GGUF file (version 2 or 3, little-endian); no byte of it is trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/gguf/types.h"
#include "io/model_files.h"

namespace pagoda::io {

// Our own limits, which bound the cost of a hostile header. The largest known vocabularies take 12 MB.
inline constexpr uint64_t kMaxGgufHeaderBytes = 64 << 20;
inline constexpr uint64_t kMaxGgufKeys = 4096;
inline constexpr uint64_t kMaxGgufTensors = 100'000;
inline constexpr uint64_t kMaxGgufNameBytes = 1024;
inline constexpr uint64_t kMaxGgufAlignment = 1 << 20;
inline constexpr uint32_t kMaxGgufDims = 4;

struct GgufTensor {
  const GgufType* type = nullptr;
  std::vector<int64_t> shape;  // slowest dimension first, as everywhere else; the file has the reverse order
  uint64_t offset_bytes = 0;   // from the start of the file
  uint64_t size_bytes = 0;
};

class Gguf {
 public:
  static Result<Gguf> open(std::shared_ptr<File> file);

  const std::shared_ptr<File>& file() const noexcept { return file_; }
  const std::map<std::string, GgufTensor>& tensors() const noexcept { return tensors_; }

  // Metadata. Absent if there is no such key or its value is of another type.
  bool has(std::string_view key) const noexcept { return values_.find(key) != values_.end(); }
  std::optional<int64_t> integer(std::string_view key) const noexcept;  // any integer type, if the value fits
  std::optional<double> number(std::string_view key) const noexcept;    // any number type
  std::optional<bool> boolean(std::string_view key) const noexcept;
  std::optional<std::string_view> string(std::string_view key) const noexcept;
  std::optional<std::vector<std::string_view>> strings(std::string_view key) const;
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<bool>> booleans(std::string_view key) const;
  std::optional<std::vector<float>> floats(std::string_view key) const;  // 32 bits each

 private:
  friend class GgufReader;
  struct Value {
    uint32_t type = 0;  // for an array: the type of its elements
    bool is_array = false;
    uint64_t offset = 0;  // of the first byte in header_
    uint64_t count = 1;   // number of elements
  };
  const Value* find(std::string_view key) const noexcept;
  std::optional<int64_t> integer_at(uint32_t type, uint64_t offset) const noexcept;

  std::shared_ptr<File> file_;
  std::string header_;  // as stored in the file; strings are views into it
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, GgufTensor> tensors_;
};

}  // namespace pagoda::io
