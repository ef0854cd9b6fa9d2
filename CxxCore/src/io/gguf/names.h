// Names of tensors: those of llama.cpp's converter, and those of Hugging Face checkpoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pagoda::io {

// "blk.12.attn_q.weight" is model.layers.12.self_attn.q_proj.weight. Returns two names if the tensor contains two that
// other checkpoints store separately, none for a tensor without a counterpart. Experts get MLX's names, or
// those of Hugging Face in a model that has gate and up of an expert in one tensor.
std::vector<std::string> hugging_face_names(std::string_view architecture, std::string_view gguf_name,
                                            bool fuses_gate_up);

}  // namespace pagoda::io
