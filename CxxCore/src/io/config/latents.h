// Reading what families with latent attention (MLA) have beside the others.
#pragma once

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// Sizes of latents and heads. Needs the sizes of the model.
void read_latents(ConfigFields& text, ModelConfig& config);

// Scales, and how dims are paired.
void read_latent_traits(ConfigFields& text, ModelConfig& config);

}  // namespace pagoda::io
