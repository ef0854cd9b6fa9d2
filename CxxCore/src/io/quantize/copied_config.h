// The config.json and the index of a quantised copy.
#pragma once

#include <string>

#include "base/json.h"
#include "io/quantize/plan.h"

namespace pagoda::io {

// `config` of the source. Matrices of a mix with 8 bits are listed by their names, and by those of the modules that
// mlx-lm loads them into if these differ.
std::string quantized_config(const Json& config, const QuantizePlan& plan);

// model.safetensors.index.json
std::string quantized_index(const QuantizePlan& plan);

}  // namespace pagoda::io
