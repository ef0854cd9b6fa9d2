// Loads the parts of an engine from a model source: configuration, tokenizer, template, device, weights,
// pools.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "engine/core/engine_core.h"
#include "engine/load/policy_file.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "io/model_files.h"
#include "model/model.h"
#include "pagoda/model_info.h"
#include "pagoda/model_source.h"
#include "pagoda/options.h"
#include "text/bpe/tokenizer.h"
#include "text/jinja/jinja.h"

namespace pagoda::engine {

struct LoadedModel {
  std::unique_ptr<device::Device> device;  // outlives the model
  std::unique_ptr<model::Model> model;
  CoreConfig core;
  std::shared_ptr<const text::SubwordTokenizer> tokenizer;   // null if the folder has none
  std::shared_ptr<const text::JinjaTemplate> chat_template;  // null if the folder has none
  std::string generation_config_json;
  PolicyFile policy_file;  // for EngineThread; others leave it alone, so that measurements and tests repeat
  std::string layout;      // what saved prefixes depend on besides the model's numbers; see layout_text()
  ModelInfo info;
};

Result<LoadedModel> load(const ModelSource& source, const EngineOptions& options, const model::LoadProgress& progress);

// The same checks and the same plan, without reading weights or allocating pools.
Result<ModelInfo> inspect(const ModelSource& source, const EngineOptions& options);

}  // namespace pagoda::engine
