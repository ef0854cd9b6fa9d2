// QuantizePlan: which tensors of a checkpoint are quantised, and which output file each goes to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "io/checkpoint.h"
#include "io/safetensors/writer.h"

namespace pagoda::io {

struct QuantizeTask {
  std::string name;  // of the copy
  TensorEntry entry;
  bool is_quantized = false;  // written as three consecutive tensors: .weight (words), .scales and .biases
  DType dtype = DType::f32;   // of the copy, or of scales and biases
};

struct QuantizeShard {
  std::string file_name;
  std::vector<QuantizeTask> tasks;
  std::vector<PlannedTensor> tensors;  // in task order
};

struct QuantizePlan {
  int bits = 4;
  int group_size = 64;
  std::vector<QuantizeShard> shards;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;  // of the shards, including headers
  int num_quantized = 0;
};

// `config`: the source config.json. Rejects models that it declares quantised, and those with experts, whose layout
// differs in MLX. Tensors with a decoder (all of a GGUF file) are written as decoded, vectors in f32 and matrices in
// the config's dtype; those of a GGUF file that no other checkpoint has, such as rope_freqs, are left out: the config
// has their meaning, and mlx-lm refuses unknown names.
Result<QuantizePlan> plan_quantize(const Checkpoint& checkpoint, const Json& config, int bits, int group_size,
                                   uint64_t max_shard_bytes);

// The new config.json and model.safetensors.index.json.
std::string quantized_config(const Json& config, int bits, int group_size);
std::string quantized_index(const QuantizePlan& plan);

}  // namespace pagoda::io
