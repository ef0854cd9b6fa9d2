// TowerWeights: the tensors of a vision tower on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"

namespace pagoda::model {

struct TowerSummary {
  int64_t num_parameters = 0;
  int64_t size_bytes = 0;  // of the weights on the device
  int64_t host_bytes = 0;  // of the learned positions
};

// Whether the checkpoint has the tower of `config`: otherwise clears config.vision, with the reason as its refusal.
// Sets the prefix of its tensors. Reads no tensor data.
void find_vision_tower(const io::Checkpoint& checkpoint, io::ModelConfig& config);

struct TowerWeights {
  struct Linear {
    std::unique_ptr<device::Weight> weight;  // [N, K]
    device::Tensor bias;                     // f32 [N]
  };
  struct Norm {
    device::Tensor weight, bias;  // f32 [D], or as wide as its input
  };
  struct Block {
    Norm norm1, norm2;
    Linear qkv, proj, fc1, fc2;
  };

  // `config.vision` must be present.
  static Result<TowerSummary> check(const io::VisionConfig& config, const io::Checkpoint& checkpoint,
                                    const device::Device& device, WeightFormat format);
  static Result<TowerWeights> load(const io::VisionConfig& config, const io::Checkpoint& checkpoint,
                                   device::Device& device, WeightFormat format);

  Linear patch_embed;            // [D, channels * frames * patch_size^2]
  std::vector<float> positions;  // [side^2, D], on the host
  std::vector<Block> blocks;
  struct Merger {
    Norm norm;  // of a patch, [D]; of a DeepStack merger of a whole token, [4 D]
    Linear fc1, fc2;
  };
  Merger merger;
  std::vector<Merger> deep_mergers;         // one for each of VisionConfig::deep_blocks
  std::unique_ptr<device::Buffer> vectors;  // biases and norms
};

}  // namespace pagoda::model
