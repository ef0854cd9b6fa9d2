// CheckpointEditor: a fixture's tensors as stored, to be edited and written again as a model in memory.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "io/safetensors/safetensors.h"
#include "model/model_runner.h"

namespace pagoda::test {

class CheckpointEditor {
 public:
  struct Tensor {
    std::string dtype;  // as safetensors spells it
    std::vector<int64_t> shape;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, Tensor> tensors;

  explicit CheckpointEditor(const std::string& path) : CheckpointEditor(path, path) {}
  // The configuration of one folder, the tensors of another.
  CheckpointEditor(const std::string& path, const std::string& tensors_path) {
    auto files = io::open_model_files(folder(path)), tensor_files = io::open_model_files(folder(tensors_path));
    REQUIRE_OK(files);
    REQUIRE_OK(tensor_files);
    const auto config = (*files)->read_text("config.json", 1 << 20);
    auto file = (*tensor_files)->open("model.safetensors");
    REQUIRE_OK(config);
    REQUIRE_OK(file);
    config_ = *config;
    const auto entries = io::read_safetensors_header(**file, 0);
    REQUIRE_OK(entries);
    for (const auto& [name, entry] : *entries) {
      Tensor& tensor = tensors[name];
      tensor = {std::string(io::safetensors_dtype_name(entry.dtype)), entry.shape,
                std::vector<std::byte>(entry.size_bytes)};
      CHECK_OK((*file)->read(entry.offset_bytes, tensor.bytes));
    }
  }

  // Valid until the next call.
  ModelSource write() {
    std::string header = "{";
    size_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
      std::string shape;
      for (int64_t n : tensor.shape) shape += (shape.empty() ? "" : ",") + std::to_string(n);
      header += (header.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"" + tensor.dtype + "\",\"shape\":[" +
                shape + "],\"data_offsets\":[" + std::to_string(offset) + "," +
                std::to_string(offset + tensor.bytes.size()) + "]}";
      offset += tensor.bytes.size();
    }
    header += "}";
    const uint64_t header_size = header.size();
    file_.assign(sizeof header_size, '\0');
    std::memcpy(file_.data(), &header_size, sizeof header_size);
    file_ += header;
    for (const auto& [name, tensor] : tensors)
      file_.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    return {.directory = "", .files = {as_file("config.json", config_), as_file("model.safetensors", file_)}};
  }

  std::string& config() { return config_; }

 private:
  static ModelFile as_file(const char* name, const std::string& text) {
    return {name, reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }

  std::string config_, file_;
};

// F32 numbers as bf16, and back.
inline void to_bf16(CheckpointEditor::Tensor& tensor) {
  std::vector<std::byte> narrow(tensor.bytes.size() / 2);
  for (size_t i = 0; i < narrow.size() / 2; ++i) {
    float value;
    std::memcpy(&value, tensor.bytes.data() + 4 * i, 4);
    const uint16_t bits = f32_to_bf16(value);
    std::memcpy(narrow.data() + 2 * i, &bits, 2);
  }
  tensor.dtype = "BF16";
  tensor.bytes = std::move(narrow);
}

inline void to_f32(CheckpointEditor::Tensor& tensor) {
  std::vector<std::byte> wide(tensor.bytes.size() * 2);
  for (size_t i = 0; i < tensor.bytes.size() / 2; ++i) {
    uint16_t bits;
    std::memcpy(&bits, tensor.bytes.data() + 2 * i, 2);
    const float value = bf16_to_f32(bits);
    std::memcpy(wide.data() + 4 * i, &value, 4);
  }
  tensor.dtype = "F32";
  tensor.bytes = std::move(wide);
}

}  // namespace pagoda::test
