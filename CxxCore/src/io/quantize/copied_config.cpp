// Writes the object "quantization" as mlx-lm reads it.
#include "io/quantize/copied_config.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"

namespace pagoda::io {
namespace {

// mlx-lm has the text model of Qwen3.5 in a module of that name, and moves "model.language_model." there.
std::string mlx_module(const std::string& name, const Json& config) {
  constexpr std::string_view kText = "model.language_model.";
  if (name.starts_with(kText)) return "language_model.model." + name.substr(kText.size());
  const Json* type = config.find("model_type");
  const bool has_module = type != nullptr && type->as_string().starts_with("qwen3_5");
  return has_module && !name.starts_with("language_model.") ? "language_model." + name : name;
}

std::vector<JsonMember> format(int bits, int group_size) {
  return {{"group_size", Json::make_integer(group_size)},
          {"bits", Json::make_integer(bits)},
          {"mode", Json::make_string("affine")}};
}

}  // namespace

std::string quantized_config(const Json& config, const QuantizePlan& plan) {
  std::vector<JsonMember> quantization = format(plan.bits, plan.group_size);
  for (const QuantizeShard& shard : plan.shards) {
    for (const QuantizeTask& task : shard.tasks) {
      if (task.bits <= plan.bits) continue;
      const std::string name = task.name.substr(0, task.name.size() - kWeightEnd.size());
      const Json own = Json::make_object(format(task.bits, plan.group_size));
      quantization.emplace_back(name, own);
      if (std::string module = mlx_module(name, config); module != name)
        quantization.emplace_back(std::move(module), own);
    }
  }
  std::vector<JsonMember> members = config.members();
  std::erase_if(members, [](const JsonMember& member) {
    return member.first == "quantization" || member.first == "quantization_config";
  });
  // Both keys, as mlx-lm writes them: other readers look for the second.
  for (const char* key : {"quantization", "quantization_config"})
    members.emplace_back(key, Json::make_object(quantization));
  std::string text;
  append_json(Json::make_object(std::move(members)), text);
  return text + "\n";
}

std::string quantized_index(const QuantizePlan& plan) {
  std::vector<JsonMember> map;
  int64_t total = 0;
  for (const QuantizeShard& shard : plan.shards) {
    for (const PlannedTensor& tensor : shard.tensors) {
      map.emplace_back(tensor.name, Json::make_string(shard.file_name));
      total += static_cast<int64_t>(tensor.size_bytes());
    }
  }
  std::string text;
  append_json(Json::make_object({{"metadata", Json::make_object({{"total_size", Json::make_integer(total)}})},
                                 {"weight_map", Json::make_object(std::move(map))}}),
              text);
  return text + "\n";
}

}  // namespace pagoda::io
