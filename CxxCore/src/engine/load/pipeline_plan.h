// Plans a model over several machines: reaches the stages, divides the layers, and finds sizes that fit them all.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/load/memory_plan.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "pagoda/options.h"
#include "pipeline/pipeline_model.h"
#include "pipeline/split.h"

namespace pagoda::engine {

struct PipelinePlan {
  io::ModelConfig first;  // this rank's part
  MemoryPlan memory;      // limits are those of all stages; bytes are those of all together
  pipeline::PipelineParts parts;
  std::vector<pipeline::Greeted> connections;
  std::string text;  // which stage has which layers
};

struct PipelineInput {
  const EngineOptions& options;
  const io::ModelConfig& config;  // of the whole model
  const std::string& config_json;
  const io::Checkpoint& checkpoint;
  const device::Device& device;
  std::string device_name, name;
  WeightFormat format;
  DType kv_dtype;
  const model::WeightsSummary& weights;
};

// What each layer of the model reads for a step that makes a token of `num_sequences`: its weights once, and the
// recurrent state of each of them.
pipeline::LayerCosts layer_costs(const io::ModelConfig& config, const model::WeightsSummary& weights,
                                 int32_t num_sequences);

Result<PipelinePlan> plan_pipeline(const PipelineInput& input);

}  // namespace pagoda::engine
