// Reads the keys that Kimi-Linear has in addition to other families with latent attention.
#pragma once

#include <vector>

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// Reads which layers are mixtures, and their sizes. Needs the sizes of the model.
void read_kimi_experts(ConfigFields& text, ModelConfig& config);

// Reads the sizes of Kimi Delta Attention.
void read_kimi_traits(ConfigFields& text, ModelConfig& config);

// The kind of each layer, for configurations without layer_types.
std::vector<LayerKind> read_kimi_layers(ConfigFields& text, const ModelConfig& config);

}  // namespace pagoda::io
