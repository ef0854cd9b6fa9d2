// Chooses the format of the weights, and the element types of the KV cache and of recurrent states.
#include <string>

#include "model/model.h"

namespace pagoda::model {
namespace {

bool is_float(DType dtype) noexcept { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

// Whether the weights are quantised to 8 bits or fewer.
bool is_packed(const io::Checkpoint& checkpoint) {
  for (const auto& [name, tensor] : checkpoint.tensors())
    if (tensor.bits != 0 && tensor.bits <= 8) return true;
  return false;
}

}  // namespace

Result<DType> choose_dtype(const std::string& choice, const io::ModelConfig& config, const io::Checkpoint& checkpoint) {
  if (choice == "float32") return DType::f32;
  if (choice == "float16") return DType::f16;
  if (choice == "bfloat16") return DType::bf16;
  if (choice != "auto")
    return make_field_error(StatusCode::invalid_argument, "dtype",
                            "dtype \"" + choice + "\" is unknown; known: auto, float32, float16, bfloat16");
  if (config.states_dtype && is_float(config.dtype)) return config.dtype;
  // If the configuration states none: the type of the largest tensor.
  const io::TensorEntry* embedding = checkpoint.find(config.tensor_prefix + "embed_tokens.weight");
  return embedding != nullptr && is_float(embedding->dtype) ? embedding->dtype : DType::f32;
}

Result<WeightFormat> choose_format(const std::string& choice, DType dtype, const io::Checkpoint& checkpoint) {
  if (choice == "auto") return is_packed(checkpoint) ? WeightFormat::stored : weight_format(dtype);
  if (choice == "none") return weight_format(dtype);
  if (choice == "bf16") return WeightFormat::bf16;
  if (choice == "8bit") return WeightFormat::q8;
  if (choice == "4bit") return WeightFormat::q4;
  return make_field_error(StatusCode::invalid_argument, "quantize",
                          "quantize \"" + choice + "\" is unknown; known: auto, none, bf16, 8bit, 4bit");
}

Result<DType> choose_kv_dtype(const std::string& choice, DType model_dtype) {
  if (choice == "auto") return model_dtype;
  for (DType known : {DType::f32, DType::f16, DType::bf16, DType::i8})
    if (choice == dtype_name(known)) return known;
  if (choice == "int4")  // figures: docs/models.md
    return make_field_error(
        StatusCode::unsupported, "kv_dtype",
        "kv_dtype int4 is not supported: 4 bits change answers too much (mean KL 4e-3 with the embedded "
        "model and 5e-2 with SmolLM2-135M; int8: 4e-5 and 6e-4)");
  return make_field_error(StatusCode::invalid_argument, "kv_dtype",
                          "kv_dtype \"" + choice + "\" is unknown; known: auto, float32, float16, bfloat16, int8");
}

Result<DType> choose_state_dtype(const std::string& choice) {
  for (DType known : {DType::f32, DType::bf16})
    if (choice == dtype_name(known)) return known;
  return make_field_error(StatusCode::invalid_argument, "state_dtype",
                          "state_dtype \"" + choice + "\" is unknown; known: float32, bfloat16");
}

}  // namespace pagoda::model
