// Synthetic files: a model in the shape of a well-known one with pseudo-random weights, generated on read.
// For measuring speed and memory without a download: the same name gives the same bytes everywhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/model_files.h"

namespace pagoda::io {

// config.json and model.safetensors (bf16) of the shape, and the files of io/synthetic/text.h. An unknown shape is an
// invalid_argument.
Result<std::unique_ptr<ModelFiles>> open_synthetic_files(std::string_view shape);
// The same of another configuration; `name` is for messages.
Result<std::unique_ptr<ModelFiles>> open_synthetic_files(std::string_view name, std::string config_json);

}  // namespace pagoda::io
