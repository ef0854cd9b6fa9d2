// Quantises the matrices of the text model; norms, convolutions, small gates and vision towers are not changed.
#include "io/quantize/plan.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "base/concat.h"
#include "base/quoted.h"
#include "io/quantize/mixture.h"

namespace pagoda::io {
namespace {

constexpr int kWideBits = 8;  // of the sensitive matrices of a mix

// Gates of a recurrent layer have one row per head: little to save, and their error affects every later token. Tensors
// that mlx-lm does not load (vision towers, multi-token prediction heads) are left alone.
bool is_kept(std::string_view name) {
  constexpr std::array<std::string_view, 6> kKept = {".in_proj_a.",   ".in_proj_b.",   "visual.",
                                                     "vision_tower.", "vision_model.", "mtp."};
  for (const std::string_view part : kKept) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool is_quantizable(const std::string& name, const TensorEntry& entry, int group_size) {
  const bool is_float = entry.dtype == DType::f32 || entry.dtype == DType::f16 || entry.dtype == DType::bf16;
  return is_float && entry.shape.size() == 2 && name.ends_with(kWeightEnd) && !is_kept(name) && entry.shape[0] > 0 &&
         entry.shape[1] > 0 && entry.shape[1] % group_size == 0;
}

Status check_config(const Json& config) {
  for (const char* key : {"quantization", "quantization_config"}) {
    if (config.find(key) && !config.find(key)->is_null()) {
      return make_error(StatusCode::unsupported,
                        "config.json: the model is quantised already ('" + std::string(key) + "')");
    }
  }
  const Json* text = config.find("text_config");
  for (const Json* object : {&config, text}) {
    for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts"}) {
      const Json* value = object ? object->find(key) : nullptr;
      if (value && value->as_integer() > 0) {
        return make_error(StatusCode::unsupported, "config.json: models with experts ('" + std::string(key) +
                                                       "') cannot be quantised into files yet");
      }
    }
  }
  return ok_status();
}

// Whether a checkpoint of Hugging Face could have the tensor; others in GGUF files keep llama.cpp's names.
bool has_known_name(const std::string& name) {
  return name.starts_with("model.") || name.starts_with("lm_head.") || name.starts_with("mtp.");
}

// GGUF has an MTP head in the layer after the last, under llama.cpp's names; other checkpoints have it under "mtp.".
std::string name_of_copy(const std::string& name, const Json& config) {
  const Json* count = config.find("num_hidden_layers");
  const std::string layer = "model.layers." + std::to_string(count ? count->as_integer() : 0) + ".";
  if (!name.starts_with(layer)) return name;
  constexpr std::string_view kNext = "nextn.";
  const std::string rest = name.substr(layer.size());
  return rest.starts_with(kNext) ? "mtp." + rest.substr(kNext.size()) : "mtp.layers.0." + rest;
}

DType dtype_in(const Json& config) {
  const Json* name = config.find("dtype");
  if (!name || !name->is_string()) return DType::f16;
  return name->as_string() == "bfloat16" ? DType::bf16 : name->as_string() == "float32" ? DType::f32 : DType::f16;
}

void add_task(QuantizeShard& shard, const QuantizePlan& plan, const QuantizeTask& task) {
  shard.tasks.push_back(task);
  if (task.bits == 0) {
    shard.tensors.push_back({task.name, task.dtype, task.entry.shape});
    return;
  }
  const int64_t rows = task.entry.shape[0], columns = task.entry.shape[1];
  const std::string stem = task.name.substr(0, task.name.size() - kWeightEnd.size());
  shard.tensors.push_back({task.name, DType::u32, {rows, columns * task.bits / 32}});
  shard.tensors.push_back({stem + ".scales", task.dtype, {rows, columns / plan.group_size}});
  shard.tensors.push_back({stem + ".biases", task.dtype, {rows, columns / plan.group_size}});
}

void name_shards(std::vector<QuantizeShard>& shards) {
  for (size_t i = 0; i < shards.size(); ++i) {
    char name[64];
    std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", i + 1, shards.size());
    shards[i].file_name = shards.size() == 1 ? "model.safetensors" : name;
  }
}

}  // namespace

Result<QuantizePlan> plan_quantize(const Checkpoint& checkpoint, const Json& config, const QuantizeOptions& options,
                                   uint64_t max_shard_bytes) {
  PAGODA_RETURN_IF_ERROR(check_config(config));
  QuantizePlan plan;
  plan.bits = options.bits;
  plan.group_size = options.group_size;
  const int64_t num_layers = num_layers_in(config);
  uint64_t shard_bytes = 0;
  for (const auto& [source_name, entry] : checkpoint.tensors()) {
    if (entry.decoder && !has_known_name(source_name)) continue;
    const std::string name = entry.decoder ? name_of_copy(source_name, config) : source_name;
    QuantizeShard addition;
    const DType dtype = entry.decoder && entry.shape.size() == 2 ? dtype_in(config) : entry.dtype;
    const bool is_wide = options.is_mixed && is_sensitive(name, num_layers);
    const int bits = is_quantizable(name, entry, plan.group_size) ? (is_wide ? kWideBits : plan.bits) : 0;
    add_task(addition, plan, {name, entry, bits, dtype});
    uint64_t bytes = 0;
    for (const PlannedTensor& tensor : addition.tensors) bytes += tensor.size_bytes();
    if (plan.shards.empty() || shard_bytes + bytes > max_shard_bytes) {
      plan.shards.emplace_back();
      shard_bytes = 0;
    }
    add_task(plan.shards.back(), plan, addition.tasks[0]);
    shard_bytes += bytes;
    plan.input_bytes += entry.size_bytes;
    plan.num_quantized += bits > 0;
    plan.num_wide += bits > plan.bits;
  }
  if (plan.num_quantized == 0) {
    return make_error(StatusCode::unsupported,
                      concat("the model has no matrix whose columns are a multiple of ", plan.group_size));
  }
  name_shards(plan.shards);
  for (const QuantizeShard& shard : plan.shards) plan.output_bytes += safetensors_file_bytes(shard.tensors);
  return plan;
}

}  // namespace pagoda::io
