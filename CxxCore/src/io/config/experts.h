// Reading the sizes of a mixture of experts from config.json.
#pragma once

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// `section` is the object that describes the text model; errors are recorded in it. Needs family and num_layers.
void read_experts(ConfigFields& section, ModelConfig& config);

}  // namespace pagoda::io
