// Checkpoints whose head contradicts their configuration: there is a separate head although the configuration ties it
// to the embedding, or there is no head.
#pragma once

#include "base/result.h"
#include "io/checkpoint.h"
#include "io/config/model_config.h"

namespace pagoda::model {

// As in transformers: if both tensors are present with different values, they are not tied. Reads them if both are
// present.
Status untie_different_head(const io::Checkpoint& checkpoint, io::ModelConfig& config);

// Embedding models are stored without the prefix of the decoder's names, and some without a head; their logits are not
// needed, so the embedding is used instead.
void find_bare_decoder(const io::Checkpoint& checkpoint, io::ModelConfig& config);

}  // namespace pagoda::model
