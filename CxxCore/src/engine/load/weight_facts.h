// What the loader says about a model's weights: their formats, what others would take, and where they are cached.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"
#include "model/model.h"
#include "pagoda/model_info.h"
#include "pagoda/model_source.h"
#include "pagoda/options.h"

namespace pagoda::engine {

// The formats, without those of less than a hundredth of the bytes: Q4_K, Q6_K.
std::string formats_text(const std::vector<FormatSum>& formats);

// The choices of EngineOptions::quantize that lead to another format than the present one.
Result<std::vector<OtherWeights>> other_weights(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                                const device::Device& device, DType dtype, WeightFormat present);

// Where a load caches its weights: in the folder that `options` name, or in the user's cache folder if the model is on
// a disk too.
model::WeightCache weight_cache_of(const ModelSource& source, const EngineOptions& options);

}  // namespace pagoda::engine
