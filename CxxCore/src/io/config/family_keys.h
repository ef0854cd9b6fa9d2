// The keys of config.json that only mixtures of experts or some families have. Errors are recorded in the fields.
#pragma once

#include <vector>

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// The sizes of a mixture of experts. Needs family and num_layers.
void read_experts(ConfigFields& text, ModelConfig& config);

// Latent attention (MLA): the sizes of latents and heads. Needs the sizes of the model.
void read_latents(ConfigFields& text, ModelConfig& config);
// The scales, and how dimensions are paired for rotation.
void read_latent_traits(ConfigFields& text, ModelConfig& config);

// Kimi-Linear: which layers are mixtures, and their sizes. Needs the sizes of the model.
void read_kimi_experts(ConfigFields& text, ModelConfig& config);
// The sizes of Kimi Delta Attention.
void read_kimi_traits(ConfigFields& text, ModelConfig& config);
// The kind of each layer, for configurations without layer_types.
std::vector<LayerKind> read_kimi_layers(ConfigFields& text, const ModelConfig& config);

// Olmo-Hybrid: the sizes of the delta rule, and where norms are. Needs the sizes of the model.
void read_olmo_traits(ConfigFields& text, ModelConfig& config);
// Full attention in every fourth layer, or in the last if there are fewer.
std::vector<LayerKind> default_olmo_layers(int32_t num_layers);
void check_olmo_layers(ConfigFields& text, const ModelConfig& config);

}  // namespace pagoda::io
