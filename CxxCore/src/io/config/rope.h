// Reading the rotary embedding's parameters from config.json, in the old style and in that of transformers 5.
#pragma once

#include "io/config/fields.h"
#include "io/config/model_config.h"

namespace pagoda::io {

// `section` is the object that describes the text model; errors are left in it. Needs head_dim and context_length.
RopeConfig read_rope_config(ConfigFields& section, const ModelConfig& config);

}  // namespace pagoda::io
