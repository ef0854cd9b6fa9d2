// GGUF files as the files of a model: config.json and the tokenizer's files are written from the metadata.
#pragma once

#include <memory>

#include "io/model_files.h"

namespace pagoda::io {

// `name` is a file of `files`; when it is the first of several parts (-00001-of-0000N) the others are opened too.
Result<std::unique_ptr<ModelFiles>> open_gguf_files(std::unique_ptr<ModelFiles> files, const std::string& name);

// The GGUF file that stands for a model without config.json: the only one, or the first of several parts; a vision
// tower (mmproj) does not count. Empty when there is none; invalid_argument when several would do.
Result<std::string> find_gguf_name(const ModelFiles& files);

}  // namespace pagoda::io
