// The tensors of GGUF files under the names, shapes and conventions of Hugging Face checkpoints.
#pragma once

#include <span>

#include "base/result.h"
#include "io/gguf/gguf.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

// `parts` are all files of a model, in order; file_index numbers them. Tensors that the architecture does not define
// keep their names.
Result<TensorMap> gguf_tensors(std::span<const Gguf> parts);

}  // namespace pagoda::io
