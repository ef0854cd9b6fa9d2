// Chooses the form weights are kept in, and the element type of the KV cache.
#include <optional>
#include <string>

#include "model/model.h"

namespace pagoda::model {
namespace {

bool is_float(DType dtype) noexcept { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

// The form that holds about as much as the checkpoint's own; none for one of floats.
std::optional<WeightFormat> packed_format(const io::Checkpoint& checkpoint) {
  constexpr int kMostPackedBits = 8, kWideBits = 5;
  double num_wide = 0, num_packed = 0;  // weights
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (tensor.bits == 0 || tensor.bits > kMostPackedBits) continue;
    double count = 1;
    for (int64_t size : tensor.shape) count *= static_cast<double>(size);
    num_packed += count;
    if (tensor.bits >= kWideBits) num_wide += count;
  }
  if (num_packed == 0) return std::nullopt;
  return num_wide * 2 > num_packed ? WeightFormat::q8 : WeightFormat::q4;
}

}  // namespace

Result<DType> choose_dtype(const std::string& choice, const io::ModelConfig& config, const io::Checkpoint& checkpoint) {
  if (choice == "float32") return DType::f32;
  if (choice == "float16") return DType::f16;
  if (choice == "bfloat16") return DType::bf16;
  if (choice != "auto")
    return make_error(StatusCode::invalid_argument,
                      "dtype \"" + choice + "\" is unknown; known: auto, float32, float16, bfloat16");
  if (config.states_dtype && is_float(config.dtype)) return config.dtype;
  // A configuration that states none: as the largest tensor is stored.
  const io::TensorEntry* embedding = checkpoint.find(config.tensor_prefix + "embed_tokens.weight");
  return embedding != nullptr && is_float(embedding->dtype) ? embedding->dtype : DType::f32;
}

Result<WeightFormat> choose_format(const std::string& choice, DType dtype, const io::Checkpoint& checkpoint) {
  if (choice == "auto") return packed_format(checkpoint).value_or(weight_format(dtype));
  if (choice == "none") return weight_format(dtype);
  if (choice == "bf16") return WeightFormat::bf16;
  if (choice == "8bit") return WeightFormat::q8;
  if (choice == "4bit") return WeightFormat::q4;
  return make_error(StatusCode::invalid_argument,
                    "quantize \"" + choice + "\" is unknown; known: auto, none, bf16, 8bit, 4bit");
}

Result<DType> choose_kv_dtype(const std::string& choice, DType model_dtype) {
  if (choice == "auto") return model_dtype;
  for (DType known : {DType::f32, DType::f16, DType::bf16, DType::i8})
    if (choice == dtype_name(known)) return known;
  return make_error(StatusCode::invalid_argument,
                    "kv-dtype \"" + choice + "\" is unknown; known: auto, float32, float16, bfloat16, int8");
}

}  // namespace pagoda::model
