// Names of tensors: those that llama.cpp's converter gives, and those of Hugging Face checkpoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pagoda::io {

// "blk.12.attn_q.weight" is model.layers.12.self_attn.q_proj.weight; two names where a tensor holds what other
// checkpoints keep apart, none for a tensor that has no counterpart. Experts get the names that MLX has for them, or
// those of Hugging Face in a model that has gate and up of an expert in one tensor.
std::vector<std::string> hugging_face_names(std::string_view architecture, std::string_view gguf_name,
                                            bool fuses_gate_up);

}  // namespace pagoda::io
