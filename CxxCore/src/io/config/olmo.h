// Reads the keys that Olmo-Hybrid has in addition to others.
#pragma once

#include <vector>

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// Reads the sizes of the delta rule; sets where norms are. Needs the sizes of the model.
void read_olmo_traits(ConfigFields& text, ModelConfig& config);

// Full attention in every fourth layer, or in the last if there are fewer.
std::vector<LayerKind> default_olmo_layers(int32_t num_layers);

void check_olmo_layers(ConfigFields& text, const ModelConfig& config);

}  // namespace pagoda::io
