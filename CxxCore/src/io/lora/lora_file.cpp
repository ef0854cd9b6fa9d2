// Finds the pairs of matrices by name, and checks their types and shapes.
#include "io/lora/lora_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "io/lora/lora_config.h"
#include "io/safetensors/safetensors.h"

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
    PAGODA_RETURN_IF_ERROR(lora.add_pair(module, pair.first, pair.second, config.rank_of(module)));
    LoraPair& added = lora.pairs_.back();
    added.scale = config.scale_of(module);
    if (added.is_parameter && config.has_pattern_of_experts())
      return make_error(
          StatusCode::unsupported,
          lora.file_name() + ": rank_pattern or alpha_pattern for parameters of experts is not supported");
    if (added.rank != config.rank_of(module))
      return make_error(StatusCode::bad_file, concat(lora.file_name(), ": ", module, " has rank ", added.rank,
                                                     ", but adapter_config.json says ", config.rank_of(module)));
  }
  return lora;
}

LoraPair LoraPair::transposed() const {
  LoraPair other = *this;
  std::swap(other.a, other.b);
  std::swap(other.in, other.out);
  other.a_strides = {b_strides[0], b_strides[2], b_strides[1]};
  other.b_strides = {a_strides[0], a_strides[2], a_strides[1]};
  return other;
}

// Sizes and strides of a pair whose tensors are set. `rank`: of adapter_config.json, by which a stack is divided.
Status LoraFile::measure(LoraPair& pair, int64_t rank) const {
  const std::vector<int64_t>&a = pair.a.shape, &b = pair.b.shape;
  const auto bad = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, concat(file_name(), ": ", pair.module, " ", what));
  };
  if (is_mlx_ && b.size() == 3 && (a.size() == 2 || a.size() == 3)) {
    pair.num_experts = b[0], pair.out = b[1], pair.rank = b[2], pair.in = a.back();
    const int64_t stacked = a.size() == 3 ? a[0] * a[1] : a[0];
    if (pair.num_experts < 1 || stacked != pair.num_experts * pair.rank || (a.size() == 3 && a[1] != pair.rank))
      return bad(concat("has ", stacked, " rows of A for ", pair.num_experts, " experts of rank ", pair.rank));
    pair.a_strides = {pair.rank * pair.in, pair.in, 1};
    pair.b_strides = {pair.out * pair.rank, pair.rank, 1};
    return ok_status();
  }
  if (a.size() != 2 || b.size() != 2) return bad("is not a pair of matrices");
  const int64_t ranks_a = a[is_mlx_ ? 1 : 0], ranks_b = b[is_mlx_ ? 0 : 1];
  pair.rank = ranks_a, pair.in = a[is_mlx_ ? 0 : 1], pair.out = b[is_mlx_ ? 1 : 0];
  if (ranks_b != ranks_a) return bad(concat("has ranks ", ranks_a, " and ", ranks_b));
  pair.a_strides = {0, is_mlx_ ? 1 : pair.in, is_mlx_ ? pair.rank : 1};
  pair.b_strides = {0, is_mlx_ ? 1 : pair.rank, is_mlx_ ? pair.out : 1};
  if (!pair.is_parameter) return ok_status();
  if (ranks_a % rank != 0)
    return bad(concat("has ", ranks_a, " rows of A, which no number of experts of rank ", rank, " has"));
  pair.rank = rank;
  pair.num_experts = ranks_a / rank;
  pair.a_strides[0] = rank * pair.in;
  pair.b_strides = {1, ranks_a, pair.num_experts};
  return ok_status();
}

Status LoraFile::add_pair(const std::string& module, const TensorEntry* a, const TensorEntry* b, int64_t rank) {
  const auto bad = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, concat(file_name(), ": ", module, " ", what));
  };
  if (!a || !b) return bad(concat("has no matrix ", a ? "B" : "A"));
  if (!is_float(a->dtype) || !is_float(b->dtype)) return bad("is neither float32, float16 nor bfloat16");
  LoraPair pair;
  pair.module = module;
  pair.a = *a, pair.b = *b;
  const size_t layers = module.find("layers.");
  const bool is_text = module.find("visual.") == module.npos && module.find("mtp.") == module.npos;
  if (layers != module.npos && is_text) pair.name = module.substr(layers);
  // Several parameters of a module are nested: experts.base_layer, experts.base_layer.base_layer ...
  constexpr std::string_view kNested = ".base_layer";
  while (pair.name.ends_with(kNested)) pair.name.resize(pair.name.size() - kNested.size());
  pair.is_parameter = !is_mlx_ && pair.name.ends_with(".experts");
  PAGODA_RETURN_IF_ERROR(measure(pair, rank));
  pairs_.push_back(std::move(pair));
  return ok_status();
}

Result<std::vector<float>> LoraFile::read(const TensorEntry& tensor, int64_t num_experts, int64_t rows, int64_t cols,
                                          const std::array<int64_t, 3>& strides) const {
  const size_t count = static_cast<size_t>(std::max<int64_t>(1, num_experts) * rows * cols);
  const size_t width = dtype_bytes(tensor.dtype);
  std::vector<float> values(count);
  std::vector<std::byte> raw(count * width);
  PAGODA_RETURN_IF_ERROR(file_->read(tensor.offset_bytes, raw));
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t from = at / (rows * cols) * strides[0] + at / cols % rows * strides[1] + at % cols * strides[2];
    const std::byte* stored = raw.data() + static_cast<size_t>(from) * width;
    if (tensor.dtype == DType::f32) {
      std::memcpy(&values[i], stored, width);
    } else {
      uint16_t bits;
      std::memcpy(&bits, stored, width);
      values[i] = tensor.dtype == DType::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
    }
    if (!std::isfinite(values[i])) return make_error(StatusCode::bad_file, file_name() + ": contains NaN or infinity");
  }
  return values;
}

}  // namespace pagoda::io
