// Shapes of well-known models, as a config.json each: what a synthetic model is made from.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::io {

// config.json of the shape called `name`. An unknown name is an invalid_argument that lists the known ones.
Result<std::string> shape_config_json(std::string_view name);

// "qwen3.5-0.8b, qwen3.5-2b, ..."
std::string shape_names();

}  // namespace pagoda::io
