// Fingerprint: everything except the tokens that KV blocks and recurrent states depend on, as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash128.h"
#include "base/result.h"
#include "engine/core/engine_core.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "pagoda/model_info.h"

namespace pagoda::engine {

// Consists of the sizes and of the model's results for a few tokens on this device with this version: a kernel that
// rounds differently, or a pool with a different layout, changes it without a version number to maintain. Equal for
// copies of a model on several machines. Runs a step in block 0 and slot 0.
Result<std::string> fingerprint(const io::ModelConfig& config, const MemoryPlan& plan, const CoreConfig& core,
                                model::Model& model);

// The part of it that the results of a few tokens do not show: the layout of the caches, and scaling of RoPE.
std::string layout_text(const io::ModelConfig& config, const MemoryPlan& plan, const CoreConfig& core);

// The tokens whose results identify a model.
std::vector<int32_t> probe_tokens(const CoreConfig& core);

// Adds the contents of blocks and a state. An MTP head's rows come last in each, and do not count: prefixes do not
// depend on whether it runs.
void add_blocks(Hash128& hash, const MemoryPlan& plan, std::span<const std::byte> blocks);
void add_state(Hash128& hash, const MemoryPlan& plan, std::span<const std::byte> state);

// Identifies the model's files by name, size, time and a sample of their bytes, or by their whole content.
Result<std::string> files_identity(const io::Checkpoint& checkpoint, bool whole_content);

}  // namespace pagoda::engine
