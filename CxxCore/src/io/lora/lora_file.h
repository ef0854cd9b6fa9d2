// LoraFile: the adapters of one folder, as peft writes them (adapter_config.json, adapter_model.safetensors) or mlx-lm
// (adapter_config.json, adapters.safetensors). Headers are checked before any tensor is read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/model_files.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

// The two matrices of one projection: y += scale * B (A x). Those of routed experts may be stacked, E pairs in one:
//   peft                      A [rank, in]      B [out, rank]
//   peft, a parameter         A [E * rank, in]  B [out, rank * E], experts adjacent; the module is that of the
//   parameter mlx-lm                    A [in, rank]      B [rank, out] mlx-lm, SwitchLinear      A [E, rank, in] or [E
//   * rank, in]   B [E, out, rank]
struct LoraPair {
  std::string module;  // as in the file, without the names of the matrices
  std::string name;    // the module from "layers." on, which all layouts share; empty if it is not in a layer
  TensorEntry a, b;
  int64_t rank = 0, in = 0, out = 0;
  int64_t num_experts = 0;                          // stacked; 0: one pair, not of a stack
  bool is_parameter = false;                        // of peft's target_parameters, whose names the file does not have
  std::array<int64_t, 3> a_strides{}, b_strides{};  // elements: from expert to expert, row to row, column to column
  double scale = 1;

  // The transposed product: earlier versions of peft multiply a parameter [experts, out, in] that way round.
  LoraPair transposed() const;
};

class LoraFile {
 public:
  // Refuses what would change the answer and is not supported: DoRA, biases, modules saved whole.
  static Result<LoraFile> open(const std::string& folder);

  const std::vector<LoraPair>& pairs() const noexcept { return pairs_; }
  const std::string& file_name() const noexcept { return file_->name(); }
  // As f32, [rank, in] and [out, rank], of a stack one after the other.
  Result<std::vector<float>> read_a(const LoraPair& pair) const {
    return read(pair.a, pair.num_experts, pair.rank, pair.in, pair.a_strides);
  }
  Result<std::vector<float>> read_b(const LoraPair& pair) const {
    return read(pair.b, pair.num_experts, pair.out, pair.rank, pair.b_strides);
  }

 private:
  Result<std::vector<float>> read(const TensorEntry& tensor, int64_t num_experts, int64_t rows, int64_t cols,
                                  const std::array<int64_t, 3>& strides) const;
  Status measure(LoraPair& pair, int64_t rank) const;
  Status add_pair(const std::string& module, const TensorEntry* a, const TensorEntry* b, int64_t rank);

  std::shared_ptr<const File> file_;
  bool is_mlx_ = false;
  std::vector<LoraPair> pairs_;
};

}  // namespace pagoda::io
