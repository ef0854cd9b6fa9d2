// Creates small safetensors files for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include "io/model_files.h"
#include "support/test.h"

namespace pagoda::test {

// Length, header as given, then `data_bytes` bytes 0, 1, 2, ...
inline std::string safetensors(const std::string& header, size_t data_bytes) {
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i));
  bytes += header;
  for (size_t i = 0; i < data_bytes; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// One member of a header; name, dtype and shape are inserted unchanged.
inline std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape, uint64_t begin,
                          uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

class StringFile final : public io::File {
 public:
  StringFile(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}
  uint64_t size_bytes() const noexcept override { return bytes_.size(); }
  const std::string& name() const noexcept override { return name_; }
  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset) {
      return make_error(StatusCode::internal, "read outside the file");
    }
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return ok_status();
  }

 private:
  std::string name_, bytes_;
};

// A file of the fixtures, as stored on disk.
inline std::shared_ptr<io::File> fixture_file(const std::string& name) {
  std::ifstream stream(fixtures_dir() + "/" + name, std::ios::binary);
  return std::make_shared<StringFile>(name, std::string(std::istreambuf_iterator<char>(stream), {}));
}

}  // namespace pagoda::test
