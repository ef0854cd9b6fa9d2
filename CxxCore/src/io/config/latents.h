// Reads the keys that families with latent attention (MLA) have in addition to others.
#pragma once

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// Reads the sizes of latents and heads. Needs the sizes of the model.
void read_latents(ConfigFields& text, ModelConfig& config);

// Reads the scales, and how dimensions are paired for rotation.
void read_latent_traits(ConfigFields& text, ModelConfig& config);

}  // namespace pagoda::io
