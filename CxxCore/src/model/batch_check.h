// Validates every batch before it reaches an op: no index may be out of bounds.
#pragma once

#include "base/result.h"
#include "cache/cache_layout.h"
#include "io/config/model_config.h"
#include "model/forward_batch.h"
#include "model/model.h"

namespace pagoda::model {

// Fails with invalid_argument; the message names the field, the index and the limit.
Status check_batch(const ForwardBatch& batch, const io::ModelConfig& config, const cache::CacheLayout& layout,
                   const EngineLimits& sizes);

}  // namespace pagoda::model
