// Creates small GGUF files for tests, valid or invalid in every field.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace pagoda::test {

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string gguf_string(const std::string& text) { return raw(uint64_t{text.size()}) + text; }

inline std::string gguf_u32(const std::string& key, uint32_t value) {
  return gguf_string(key) + raw(uint32_t{4}) + raw(value);
}
inline std::string gguf_text(const std::string& key, const std::string& value) {
  return gguf_string(key) + raw(uint32_t{8}) + gguf_string(value);
}

// A tensor's description: dimensions fastest first, as in the file.
inline std::string gguf_tensor(const std::string& name, std::initializer_list<uint64_t> dims, uint32_t type,
                               uint64_t offset) {
  std::string bytes = gguf_string(name) + raw(static_cast<uint32_t>(dims.size()));
  for (uint64_t dim : dims) bytes += raw(dim);
  return bytes + raw(type) + raw(offset);
}

struct GgufParts {
  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t num_tensors = 0, num_keys = 0;
  std::string keys = "", tensors = "";
  uint64_t data_bytes = 0;
  uint64_t alignment = 32;

  std::string bytes() const {
    std::string all = magic + raw(version) + raw(num_tensors) + raw(num_keys) + keys + tensors;
    if (data_bytes > 0) all.resize((all.size() + alignment - 1) / alignment * alignment + data_bytes, '\1');
    return all;
  }
};

}  // namespace pagoda::test
