// Quantised safetensors: tensors that a configuration says are packed become tensors of numbers, with a decoder.
//   MLX affine: X.weight u32 [rows, cols * bits / 32], X.scales and X.biases [rows, cols / group]: q * scale + bias
//   MLX mxfp4:  X.weight u32 [rows, cols / 8], X.scales u8 [rows, cols / 32]: a 4-bit float times 2^(scale - 127)
//   FP8:        X.weight f8_e4m3 [rows, cols], X.weight_scale_inv [rows / 128, cols / 128]: weight times scale
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "io/config/fields.h"
#include "io/safetensors/safetensors.h"

namespace pagoda::io {

// Whether `quantization` or `quantization_config` of a configuration describes one of the forms above; else the fault
// is kept in `fields`.
void check_quantization(ConfigFields& fields);

// Replaces packed tensors by what they stand for; scales and biases go. `config_json` is the text of config.json.
// Checkpoints that mlx-lm wrote keep convolutions as [channels, kernel, 1], 1 + w of zero-centred norms, and the text
// model of Qwen3.5 under "language_model.": all come back as Hugging Face has them.
Status decode_quantized(std::string_view config_json, std::span<const std::shared_ptr<File>> files, TensorMap& tensors);

}  // namespace pagoda::io
