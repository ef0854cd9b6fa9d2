// Plans a model over several machines: connects to the stages, divides the layers, and finds sizes that fit them all.
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
  MemoryPlan memory;      // limits apply to all stages; bytes are the total
  pipeline::PipelineParts parts;
  std::vector<pipeline::StageConnection> connections;
  std::string text;  // the layers of each stage
};

struct PipelineInput {
  const EngineOptions& options;
  const io::ModelConfig& config;  // of the whole model
  const std::string& config_json;
  const io::Checkpoint& checkpoint;
  const device::Device& device;
  std::string device_name, name;
  WeightFormat format;
  cache::CacheTypes cache_types;
  const model::WeightsSummary& weights;
};

// Bytes that each layer reads in a step that generates one token for each of `num_sequences`: its weights once, and the
// recurrent state of each sequence.
pipeline::LayerCosts layer_costs(const io::ModelConfig& config, const model::WeightsSummary& weights,
                                 int32_t num_sequences, DType state_dtype);

Result<PipelinePlan> plan_pipeline(const PipelineInput& input);

}  // namespace pagoda::engine
