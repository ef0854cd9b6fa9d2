// Checkpoint: every tensor of a model by name, from safetensors files (one, or shards with an index) or GGUF files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/model_files.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

class Checkpoint {
 public:
  // Validates every header completely before reading any tensor data. Prefers `model.safetensors`; without it
  // `model.safetensors.index.json` names the shards, which must contain exactly the tensors it lists.
  static Result<Checkpoint> open(const ModelFiles& files);

  const TensorEntry* find(const std::string& name) const noexcept;  // null if absent
  const TensorMap& tensors() const noexcept { return tensors_; }
  const std::string& file_name(int file_index) const noexcept { return files_[file_index]->name(); }
  std::span<const std::shared_ptr<File>> files() const noexcept { return files_; }

  // Reads bytes [begin, begin + into.size()) of a tensor as stored.
  Status read(const TensorEntry& tensor, uint64_t begin, std::span<std::byte> into) const noexcept;

 private:
  Status open_single(const ModelFiles& files);
  Status open_gguf(std::span<const Gguf> parts);
  Status open_sharded(const ModelFiles& files);
  Status add_file(std::unique_ptr<File> file);

  TensorMap tensors_;
  std::vector<std::shared_ptr<File>> files_;
};

}  // namespace pagoda::io
