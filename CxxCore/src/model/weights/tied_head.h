// Checkpoints whose head contradicts their configuration: an own head although it should be the embedding, or
// none.
#pragma once

#include "base/result.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"

namespace pagoda::model {

// As transformers: where both tensors are there with different values, they are not tied. Reads them when both are
// there.
Status untie_different_head(const io::Checkpoint& checkpoint, io::ModelConfig& config);

// Embedding models are stored without the names around the decoder, and some without a head; no logits are wanted of
// these, so the embedding is used instead.
void find_bare_decoder(const io::Checkpoint& checkpoint, io::ModelConfig& config);

}  // namespace pagoda::model
