// Prepared: everything about a model that is determined before any weight is read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "engine/load/memory_plan.h"
#include "engine/load/pipeline_plan.h"
#include "engine/load/vision.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/model_files.h"
#include "pagoda/model_info.h"
#include "pagoda/model_source.h"
#include "pagoda/options.h"
#include "text/jinja/jinja.h"

namespace pagoda::engine {

struct Prepared {
  std::unique_ptr<io::ModelFiles> files;
  io::ModelConfig config;
  std::unique_ptr<io::Checkpoint> checkpoint;
  std::unique_ptr<device::Device> device;
  DType dtype = DType::f32;
  cache::CacheTypes cache_types;
  WeightFormat format = WeightFormat::f32;
  MemoryPlan memory;
  ModelInfo info;
  std::string generation_config_json;
  std::shared_ptr<const text::JinjaTemplate> chat_template;
  std::string config_json;
  std::optional<PipelinePlan> pipeline;  // for a model on several machines
  VisionPlan vision;
};

// Reads the small files, opens the device and plans the memory. `may_try_products`: the trial of a device's matrix
// units may run now, if there is no verdict of an earlier one.
Result<Prepared> prepare(const ModelSource& source, const EngineOptions& options, bool may_try_products);

}  // namespace pagoda::engine
