// Fingerprint: everything but the tokens that KV blocks and recurrent states depend on, as text.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/core/engine_core.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "pagoda/model_info.h"

namespace pagoda::engine {

// The sizes, and what the model, as this device and this version of ours run it, makes of a few tokens: a kernel that
// rounds otherwise, or a pool laid out otherwise, shows there without a version number to maintain. The same for
// copies of a model on several machines. Runs a step, in block 0 and slot 0.
Result<std::string> fingerprint(const io::ModelConfig& config, const MemoryPlan& plan, const CoreConfig& core,
                                model::Model& model);

// The model's files, by name, size, time and a sample of their bytes; or by their whole content.
Result<std::string> files_identity(const io::Checkpoint& checkpoint, bool whole_content);

}  // namespace pagoda::engine
