// Plans the memory of an engine before anything is allocated; a plan that does not fit is refused with the numbers.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cache/cache_layout.h"
#include "device/device.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "pagoda/model_info.h"
#include "pagoda/options.h"

namespace pagoda::engine {

constexpr int32_t kFewSequences = 16;

// Running sequences if max_num_seqs is 0: on a card that drives no screen as many as the memory left after the weights
// can serve, each with its recurrent state and some thousand tokens, up to 256; elsewhere kFewSequences.
int32_t default_num_seqs(const device::DeviceInfo& device, int64_t left_bytes, int64_t state_slot_bytes,
                         int64_t token_bytes) noexcept;

// Tokens of the KV cache if memory allows it and no option sets its size: full contexts (of `wanted_len` tokens) of all
// sequences; on a GPU that shares its memory with the screen 32,768, or one context of max_model_len (0: not set).
int64_t default_cache_tokens(const device::DeviceInfo& device, int64_t wanted_len, int32_t max_num_seqs,
                             int64_t max_model_len) noexcept;

// The share of the memory left after weights and state that those tokens may take: nearly all of a card's own memory,
// less of memory that other programs need too.
double default_cache_share(const device::DeviceInfo& device) noexcept;

// Checks the ranges of options that do not depend on the model.
Status check_options(const EngineOptions& options);

// Memory of a vision tower and its results.
struct VisionBytes {
  int64_t device = 0;  // on the device of the text model
  int64_t host = 0;
};

// The most drafts of a sequence per step.
int32_t max_drafts(const EngineOptions& options, const cache::CacheLayout& layout) noexcept;

Result<MemoryPlan> plan_memory(const EngineOptions& options, const io::ModelConfig& config,
                               const cache::CacheLayout& layout, const device::Device& device, int64_t weights_bytes,
                               int64_t limit_bytes = 0,  // 0: the device's
                               const VisionBytes& vision = {}, int64_t adapter_bytes = 0,
                               int64_t adapter_table_bytes = 0);

}  // namespace pagoda::engine
