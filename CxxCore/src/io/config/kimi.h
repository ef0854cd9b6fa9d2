// Reading what Kimi-Linear has beside the other families with latent attention.
#pragma once

#include <vector>

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// Mixtures and their sizes. Needs the sizes of the model.
void read_kimi_experts(ConfigFields& text, ModelConfig& config);

// Sizes of Kimi Delta Attention.
void read_kimi_traits(ConfigFields& text, ModelConfig& config);

// Where no layer_types are given.
std::vector<LayerKind> read_kimi_layers(ConfigFields& text, const ModelConfig& config);

}  // namespace pagoda::io
