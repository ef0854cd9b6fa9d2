// Quantised safetensors: replaces tensors that the configuration declares as packed by float tensors with a decoder.
//   MLX affine: X.weight u32 [rows, cols * bits / 32], X.scales and X.biases [rows, cols / group]: q * scale + bias
//   MLX mxfp4:  X.weight u32 [rows, cols / 8], X.scales u8 [rows, cols / 32]: a 4-bit float times 2^(scale - 127)
//   MLX nvfp4:  the same with X.scales u8 [rows, cols / 16], 8-bit floats (e4m3)
//   FP8:        X.weight f8_e4m3 [rows, cols], X.weight_scale_inv [rows / 128, cols / 128]: weight times scale
//   GPTQ, AWQ, compressed-tensors: see integers.h
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "io/config/fields.h"
#include "io/model_files.h"
#include "io/tensor_entry.h"

namespace pagoda::io {

// Checks that `quantization` or `quantization_config` describes one of the formats above; errors are recorded in
// `fields`.
void check_quantization(ConfigFields& fields);

// Replaces packed tensors by their decoded form and removes scales and biases. `config_json` is the text of
// config.json. Also undoes mlx-lm's conventions (convolutions as [channels, kernel, 1], zero-centred norms stored as 1
// + w, Qwen3.5's text model under "language_model."), older names of norms (Olmo-Hybrid) and the prefix of a part
// (Qwen3-Omni's thinker), so that all tensors have the names of the weight table.
Status decode_quantized(std::string_view config_json, std::span<const std::shared_ptr<File>> files, TensorMap& tensors);

}  // namespace pagoda::io
