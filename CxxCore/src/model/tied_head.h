// A checkpoint that has a head of its own although its configuration says that it is the embedding.
#pragma once

#include "base/result.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"

namespace pagoda::model {

// As transformers: where both tensors are there with different values, they are not tied. Reads them when both are
// there.
Status untie_different_head(const io::Checkpoint& checkpoint, io::ModelConfig& config);

}  // namespace pagoda::model
