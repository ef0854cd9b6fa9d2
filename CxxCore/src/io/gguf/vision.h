// The vision tower of a GGUF model, which is in a file of its own (mmproj) with the architecture "clip".
#pragma once

#include <string>
#include <string_view>

#include "io/gguf/gguf.h"
#include "io/gguf/keys.h"

namespace pagoda::io {

bool is_gguf_vision(const Gguf& part);

// vision_config and image_token_id of config.json. A tower of another kind becomes one that read_vision_config()
// refuses by name. `text` is the model's own file.
void add_vision(const Gguf& vision, const Gguf& text, Members& config);

// Text of preprocessor_config.json.
std::string gguf_preprocessor_json(const Gguf& vision);

// The name of a tower's tensor in a Hugging Face checkpoint; empty if it is not known.
std::string vision_tensor_name(const Gguf& vision, std::string_view name);

}  // namespace pagoda::io
