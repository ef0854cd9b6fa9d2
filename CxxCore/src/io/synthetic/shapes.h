// Shapes of well-known models, each as a config.json: the input of synthetic models.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::io {

// config.json of the shape `name`. An unknown name fails with invalid_argument, and the message lists the known ones.
Result<std::string> shape_config_json(std::string_view name);

// "qwen3.5-0.8b, qwen3.5-2b, ..."
std::string shape_names();

}  // namespace pagoda::io
