// Loads the vision tower of a model that has one.
#pragma once

#include <memory>

#include "base/result.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/model_files.h"
#include "model/vision/tower.h"
#include "pagoda/model_info.h"
#include "pagoda/options.h"

namespace pagoda::engine {

// The tower before its weights are read. Without one, device is null.
struct VisionPlan {
  std::unique_ptr<device::Device> device;
  WeightFormat format = WeightFormat::f32;
  int32_t max_tokens = 0;  // of one image
  int64_t num_parameters = 0;
  int64_t size_bytes = 0;  // weights, activations, and the cache of results
};

// Decides whether the model gets its tower: if not, config.vision is cleared and its refusal says why.
void choose_vision(const EngineOptions& options, const io::ModelFiles& files, const io::Checkpoint& checkpoint,
                   io::ModelConfig& config);

// The tower runs on the CPU beside any device: GPUs have no kernels for it. Weights of 8 and 4 bits are those of the
// text; the tower, a small part of the model, keeps bf16.
Result<VisionPlan> plan_vision(const EngineOptions& options, const io::Checkpoint& checkpoint,
                               const io::ModelConfig& config, const device::Device& device, WeightFormat format);

void describe_vision(const VisionPlan& plan, const io::VisionConfig& config, ModelInfo& info);

}  // namespace pagoda::engine
