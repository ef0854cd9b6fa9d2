// Loads the vision tower of a model that has one.
#pragma once

#include <memory>

#include "base/result.h"
#include "engine/load/memory_plan.h"
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
  VisionBytes bytes;  // weights, activations, and the cache of results
};

// The format of the tower beside a text model in `text`: 8 bits beside weights of 8 or 4, because 4 bits save little in
// so small a part of the model and images lose by them; bf16, as files store it, beside weights as stored.
WeightFormat tower_format(WeightFormat text) noexcept;

// Decides whether the model gets its tower: if not, config.vision is cleared and its refusal says why.
void choose_vision(const EngineOptions& options, const io::ModelFiles& files, const io::Checkpoint& checkpoint,
                   io::ModelConfig& config);

// The tower runs on a device of its own, of the same kind as the text's `device`, so that neither waits for the other's
// steps, repeats them or uses its scratch memory; on the CPU if the GPU has no kernels for the size of its heads.
Result<VisionPlan> plan_vision(const EngineOptions& options, const io::Checkpoint& checkpoint,
                               const io::ModelConfig& config, const device::Device& device, WeightFormat format);

void describe_vision(const VisionPlan& plan, const io::VisionConfig& config, ModelInfo& info);

}  // namespace pagoda::engine
