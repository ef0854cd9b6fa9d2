// LoraFile: the adapters of one folder, as peft writes them (adapter_config.json, adapter_model.safetensors) or mlx-lm
// (adapter_config.json, adapters.safetensors). Headers are checked before any tensor is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/model_files.h"
#include "io/safetensors/safetensors.h"

namespace pagoda::io {

// The two matrices of one projection: y += scale * B (A x).
struct LoraPair {
  std::string module;  // as in the file, without the names of the matrices
  std::string name;    // the module from "layers." on, which all layouts share; empty if it is not in a layer
  TensorEntry a, b;    // [rank, in] and [out, rank]; as mlx-lm writes them [in, rank] and [rank, out]
  int64_t rank = 0, in = 0, out = 0;
  double scale = 1;
};

class LoraFile {
 public:
  // Refuses what would change the answer and is not supported: DoRA, biases, modules saved whole.
  static Result<LoraFile> open(const std::string& folder);

  const std::vector<LoraPair>& pairs() const noexcept { return pairs_; }
  const std::string& file_name() const noexcept { return file_->name(); }
  // As f32, [rank, in] and [out, rank].
  Result<std::vector<float>> read_a(const LoraPair& pair) const { return read(pair.a, pair.rank, pair.in); }
  Result<std::vector<float>> read_b(const LoraPair& pair) const { return read(pair.b, pair.out, pair.rank); }

 private:
  Result<std::vector<float>> read(const TensorEntry& tensor, int64_t rows, int64_t cols) const;
  Status add_pair(const std::string& module, const TensorEntry* a, const TensorEntry* b);

  std::shared_ptr<const File> file_;
  bool is_mlx_ = false;  // transposed
  std::vector<LoraPair> pairs_;
};

}  // namespace pagoda::io
