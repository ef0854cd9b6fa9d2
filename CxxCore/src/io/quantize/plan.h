// QuantizePlan: which tensors of a checkpoint are quantised, and which output file each goes to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "io/checkpoint.h"
#include "io/safetensors/writer.h"
#include "pagoda/quantize.h"

namespace pagoda::io {

constexpr std::string_view kWeightEnd = ".weight";  // of the names of matrices

struct QuantizeTask {
  std::string name;  // of the copy
  TensorEntry entry;
  int bits = 0;              // 4 or 8: three consecutive tensors, .weight (words), .scales and .biases; 0: copied
  DType dtype = DType::f32;  // of the copy, or of scales and biases
};

struct QuantizeShard {
  std::string file_name;
  std::vector<QuantizeTask> tasks;
  std::vector<PlannedTensor> tensors;  // in task order
};

struct QuantizePlan {
  int bits = 4;  // of matrices, but for those of a mix with 8
  int group_size = 64;
  std::vector<QuantizeShard> shards;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;  // of the shards, including headers
  int num_quantized = 0;
  int num_wide = 0;  // matrices of a mix with 8 bits
};

// `config`: the source config.json. Rejects models that it declares quantised, and those with experts, whose layout
// differs in MLX. Tensors with a decoder (all of a GGUF file) are written as decoded, vectors in f32 and matrices in
// the config's dtype; those of a GGUF file that no other checkpoint has, such as rope_freqs, are left out: the config
// has their meaning, and mlx-lm refuses unknown names.
Result<QuantizePlan> plan_quantize(const Checkpoint& checkpoint, const Json& config, const QuantizeOptions& options,
                                   uint64_t max_shard_bytes);

}  // namespace pagoda::io
