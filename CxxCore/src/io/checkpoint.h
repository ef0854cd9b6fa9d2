// Checkpoint: every tensor of a model's safetensors files (one file, or shards with an index) by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "io/model_files.h"

namespace pagoda::io {

struct TensorEntry {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  uint64_t offset_bytes = 0;  // from the start of the file
  uint64_t size_bytes = 0;
  int file_index = 0;
};

class Checkpoint {
 public:
  // Validates every header completely (RELIABILITY rules of safetensors) before any tensor byte is read.
  static Result<Checkpoint> open(const ModelFiles& files);

  const TensorEntry* find(const std::string& name) const noexcept;  // null if absent
  const std::map<std::string, TensorEntry>& tensors() const noexcept { return tensors_; }
  const std::string& file_name(int file_index) const noexcept { return files_[file_index]->name(); }

  // Bytes [begin, begin + into.size()) of a tensor.
  Status read(const TensorEntry& tensor, uint64_t begin, std::span<std::byte> into) const noexcept;

 private:
  std::map<std::string, TensorEntry> tensors_;
  std::vector<std::shared_ptr<File>> files_;
};

}  // namespace pagoda::io
