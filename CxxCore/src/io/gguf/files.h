// GGUF files as the files of a model: config.json and the tokenizer's files are written from the metadata.
#pragma once

#include <memory>

#include "io/model_files.h"

namespace pagoda::io {

class Gguf;

// Whether a file has an MTP head and no other layer (llama.cpp's mtp-NAME.gguf); false for a part of a split model.
bool is_gguf_head(const Gguf& part);

// `name` is a file of `files`; if it is the first of several parts (-00001-of-0000N) the others are opened too. A
// head in a separate file next to it, mtp-NAME.gguf or the only mtp-*.gguf, is a part too, and so is the vision tower:
// `vision`, or mmproj-NAME.gguf, the only mmproj*.gguf, or the one of them in bf16, f16 or f32, in this order.
Result<std::unique_ptr<ModelFiles>> open_gguf_files(std::unique_ptr<ModelFiles> files, const std::string& name,
                                                    std::unique_ptr<File> vision = nullptr);

// The GGUF file of a model without config.json: the only one, or the first of several parts; a vision tower (mmproj) or
// a head (mtp-) does not count. Empty if there is none; invalid_argument if there are several.
Result<std::string> find_gguf_name(const ModelFiles& files);

}  // namespace pagoda::io
