// Finds the pairs of matrices by name, and checks their types and shapes.
#include "io/lora/lora_file.h"

#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "io/lora/lora_config.h"

namespace pagoda::io {
namespace {

constexpr uint64_t kMaxConfigBytes = 1 << 20;

struct Half {
  std::string module;
  bool is_b = false;
};

// The module of a matrix, or an empty one if its name is of no known form.
Half read_name(std::string_view name, bool is_mlx) {
  const std::string_view ends[2][2] = {{".lora_A.weight", ".lora_B.weight"},
                                       {".lora_A.default.weight", ".lora_B.default.weight"}};
  const std::string_view mlx_ends[] = {".lora_a", ".lora_b"};
  for (const bool is_b : {false, true}) {
    if (is_mlx && name.ends_with(mlx_ends[is_b]))
      return {std::string(name.substr(0, name.size() - mlx_ends[is_b].size())), is_b};
    for (const auto& pair : ends)
      if (!is_mlx && name.ends_with(pair[is_b]))
        return {std::string(name.substr(0, name.size() - pair[is_b].size())), is_b};
  }
  return {};
}

bool is_float(DType dtype) noexcept { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

}  // namespace

Result<LoraFile> LoraFile::open(const std::string& folder) {
  PAGODA_ASSIGN_OR_RETURN(const auto files, open_model_files({.directory = folder, .files = {}}));
  if (!files->exists("adapter_config.json"))
    return make_error(StatusCode::not_found, folder + ": has no adapter_config.json");
  PAGODA_ASSIGN_OR_RETURN(const std::string text, files->read_text("adapter_config.json", kMaxConfigBytes));
  PAGODA_ASSIGN_OR_RETURN(const LoraConfig config, parse_lora_config(text, folder + "/adapter_config.json"));
  LoraFile lora;
  lora.is_mlx_ = config.is_mlx;
  PAGODA_ASSIGN_OR_RETURN(auto file, files->open(config.is_mlx ? "adapters.safetensors" : "adapter_model.safetensors"));
  lora.file_ = std::move(file);
  PAGODA_ASSIGN_OR_RETURN(const TensorMap tensors, read_safetensors_header(*lora.file_, 0));
  std::map<std::string, std::pair<const TensorEntry*, const TensorEntry*>> modules;
  for (const auto& [name, tensor] : tensors) {
    const Half half = read_name(name, config.is_mlx);
    if (half.module.empty())
      return make_error(StatusCode::unsupported,
                        concat(lora.file_name(), ": tensor ", name, " is no matrix of a LoRA adapter",
                               name.find("magnitude") != name.npos || name.ends_with(".m") ? " (DoRA?)" : ""));
    auto& pair = modules[half.module];
    (half.is_b ? pair.second : pair.first) = &tensor;
  }
  if (modules.empty()) return make_error(StatusCode::bad_file, lora.file_name() + ": has no tensors");
  for (const auto& [module, pair] : modules) {
    PAGODA_RETURN_IF_ERROR(lora.add_pair(module, pair.first, pair.second));
    LoraPair& added = lora.pairs_.back();
    added.scale = config.scale_of(module);
    if (added.rank != config.rank_of(module))
      return make_error(StatusCode::bad_file, concat(lora.file_name(), ": ", module, " has rank ", added.rank,
                                                     ", but adapter_config.json says ", config.rank_of(module)));
  }
  return lora;
}

Status LoraFile::add_pair(const std::string& module, const TensorEntry* a, const TensorEntry* b) {
  const auto bad = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, concat(file_name(), ": ", module, " ", what));
  };
  if (!a || !b) return bad(concat("has no matrix ", a ? "B" : "A"));
  if (!is_float(a->dtype) || !is_float(b->dtype)) return bad("is neither float32, float16 nor bfloat16");
  if (a->shape.size() == 3)
    return make_error(StatusCode::unsupported, concat(file_name(), ": ", module,
                                                      ": adapters of experts that are "
                                                      "stacked in one tensor are not "
                                                      "supported"));
  if (a->shape.size() != 2 || b->shape.size() != 2) return bad("is not a pair of matrices");
  LoraPair pair{.module = module, .name = {}, .a = *a, .b = *b};
  pair.rank = a->shape[is_mlx_ ? 1 : 0];
  pair.in = a->shape[is_mlx_ ? 0 : 1];
  pair.out = b->shape[is_mlx_ ? 1 : 0];
  if (b->shape[is_mlx_ ? 0 : 1] != pair.rank)
    return bad(concat("has ranks ", pair.rank, " and ", b->shape[is_mlx_ ? 0 : 1]));
  const size_t layers = module.find("layers.");
  const bool is_text = module.find("visual.") == module.npos && module.find("mtp.") == module.npos;
  if (layers != module.npos && is_text) pair.name = module.substr(layers);
  pairs_.push_back(std::move(pair));
  return ok_status();
}

Result<std::vector<float>> LoraFile::read(const TensorEntry& tensor, int64_t rows, int64_t cols) const {
  const size_t count = static_cast<size_t>(rows * cols), width = dtype_bytes(tensor.dtype);
  std::vector<float> values(count);
  std::vector<std::byte> raw(count * width);
  PAGODA_RETURN_IF_ERROR(file_->read(tensor.offset_bytes, raw));
  for (size_t i = 0; i < count; ++i) {
    const size_t from =
        is_mlx_ ? i % static_cast<size_t>(cols) * static_cast<size_t>(rows) + i / static_cast<size_t>(cols) : i;
    if (tensor.dtype == DType::f32) {
      std::memcpy(&values[i], raw.data() + from * width, width);
    } else {
      uint16_t bits;
      std::memcpy(&bits, raw.data() + from * width, width);
      values[i] = tensor.dtype == DType::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
    }
    if (!std::isfinite(values[i])) return make_error(StatusCode::bad_file, file_name() + ": contains NaN or infinity");
  }
  return values;
}

}  // namespace pagoda::io
