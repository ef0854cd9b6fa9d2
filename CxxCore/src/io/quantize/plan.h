// QuantizePlan: which tensors of a checkpoint become smaller, and in which file of the new one each lies.
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
  std::string name;  // of the tensor in the old checkpoint
  TensorEntry entry;
  bool is_quantized = false;  // then three tensors follow each other: .weight (words), .scales and .biases
};

struct QuantizeShard {
  std::string file_name;
  std::vector<QuantizeTask> tasks;
  std::vector<PlannedTensor> tensors;  // in the order of the tasks
};

struct QuantizePlan {
  int bits = 4;
  int group_size = 64;
  std::vector<QuantizeShard> shards;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;  // of the shards, headers included
  int num_quantized = 0;
};

// `config`: the old config.json. Refuses what is quantised already and what has experts, whose layout in MLX differs.
Result<QuantizePlan> plan_quantize(const Checkpoint& checkpoint, const Json& config, int bits, int group_size,
                                   uint64_t max_shard_bytes);

// The new config.json, and model.safetensors.index.json.
std::string quantized_config(const Json& config, int bits, int group_size);
std::string quantized_index(const QuantizePlan& plan);

}  // namespace pagoda::io
