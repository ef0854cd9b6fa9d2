// What the numbers in KV blocks and recurrent states depend on besides the tokens, as a text.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/engine_core.h"
#include "io/checkpoint.h"
#include "model/model.h"
#include "pagoda/model_info.h"

namespace pagoda::engine {

// The model's files, the sizes, and what the model, as this device and this version of ours run it, makes of a few
// tokens: a kernel that rounds otherwise, or a pool laid out otherwise, shows there without anybody having to remember
// a number. Runs a step, in block 0 and slot 0.
Result<std::string> fingerprint(const io::Checkpoint& checkpoint, const MemoryPlan& plan, const CoreConfig& core,
                                model::Model& model);

}  // namespace pagoda::engine
