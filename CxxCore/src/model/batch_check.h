// The check every batch passes before it reaches an op: no index may leave its table.
#pragma once

#include "base/result.h"
#include "cache/cache_layout.h"
#include "io/config/model_config.h"
#include "model/forward_batch.h"
#include "model/model.h"

namespace pagoda::model {

// invalid_argument names the field, the place in it and the limit.
Status check_batch(const ForwardBatch& batch, const io::ModelConfig& config, const cache::CacheLayout& layout,
                   const EngineLimits& sizes);

}  // namespace pagoda::model
