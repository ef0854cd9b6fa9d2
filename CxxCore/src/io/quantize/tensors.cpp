// Finds packed tensors by their companion tensors, and checks all shapes.
#include "io/quantize/tensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/concat.h"
#include "base/json.h"
#include "base/quoted.h"
#include "io/config/model_config.h"
#include "io/quantize/integers.h"
#include "io/quantize/packed_decoder.h"

#pragma clang fp contract(off)

namespace pagoda::io {
namespace {

constexpr int kBits[] = {2, 3, 4, 5, 6, 8};
constexpr int64_t kGroups[] = {32, 64, 128};

// Keys missing from a layer's own object take MLX's defaults, not the values of the other layers: mlx-lm writes routers
// as {"bits": 8, "group_size": 64} into files that are otherwise mxfp4, and means affine.
Packing read_packing(ConfigFields& fields) {
  Packing packing;
  const std::string mode = fields.string("mode", "affine");
  packing.mode = mode == "mxfp4" ? Mode::mxfp4 : mode == "nvfp4" ? Mode::nvfp4 : Mode::affine;
  if (packing.mode == Mode::affine && mode != "affine")
    fields.fail("mode", io::quoted(mode) + " is not supported", StatusCode::unsupported);
  const bool is_affine = packing.mode == Mode::affine;
  const int32_t usual_group = is_affine ? 64 : packing.mode == Mode::nvfp4 ? 16 : 32;
  packing.bits = fields.integer("bits", 0, 64, 4);
  packing.group = fields.integer("group_size", 0, 1 << 20, usual_group);
  fields.check(is_affine ? std::ranges::count(kBits, packing.bits) > 0 : packing.bits == 4, "bits",
               concat(packing.bits, " is not supported"));
  fields.check(is_affine ? std::ranges::count(kGroups, packing.group) > 0 : packing.group == usual_group, "group_size",
               concat(packing.group, " is not supported"));
  return packing;
}

// The packing of all tensors without one of their own; empty if the configuration states none, or integers.
std::optional<Packing> read_default(ConfigFields& root, const Json*& object, std::optional<IntegerPacking>& integers) {
  for (const char* key : {"quantization", "quantization_config"}) {
    object = root.find(key);
    if (object == nullptr) continue;
    ConfigFields fields(*object, root.where() + ": " + key);
    integers = read_integers(fields);
    if (integers) {
      root.adopt(fields.status());
      return std::nullopt;
    }
    const std::string method = fields.string("quant_method", "");
    Packing packing;
    if (method == "fp8") {
      const Json* block = fields.find("weight_block_size");
      const bool is_known = block != nullptr && block->items().size() == 2 && block->items()[0].as_integer() == 128 &&
                            block->items()[1].as_integer() == 128;
      if (!is_known)
        fields.fail("weight_block_size", "other than [128, 128] is not supported", StatusCode::unsupported);
      packing = {Mode::fp8, 8, 128};
    } else if (!object->is_object() || !method.empty() || fields.find("bits") == nullptr) {
      root.fail(
          key,
          "is present: quantized weights" + (method.empty() ? "" : " " + io::quoted(method)) + " are not supported",
          StatusCode::unsupported);
    } else {
      packing = read_packing(fields);
    }
    root.adopt(fields.status());
    return packing;
  }
  return std::nullopt;
}

// Subtracts 1 from a vector of floats.
class MinusOneDecoder final : public TensorDecoder {
 public:
  explicit MinusOneDecoder(TensorSource source) : source_(std::move(source)) {}
  Status read(uint64_t begin, std::span<float> into) const override {
    const size_t width = dtype_bytes(source_.entry.dtype);
    std::vector<std::byte> raw(into.size() * width);
    PAGODA_RETURN_IF_ERROR(source_.file->read(source_.entry.offset_bytes + begin * width, raw));
    for (size_t i = 0; i < into.size(); ++i) into[i] = widen(source_.entry.dtype, raw.data() + i * width) - 1.0f;
    return ok_status();
  }

 private:
  TensorSource source_;
};

bool is_float(DType dtype) noexcept { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

class Unpacker {
 public:
  Unpacker(const Json& object, const Packing& packing, std::span<const std::shared_ptr<File>> files, TensorMap& tensors)
      : object_(object), default_(packing), files_(files), tensors_(tensors) {}

  Status run() {
    std::vector<std::string> names;  // names of packed weights, without ".weight"
    const std::string companion = default_.mode == Mode::fp8 ? ".weight_scale_inv" : ".scales";
    for (const auto& [name, tensor] : tensors_)
      if (name.ends_with(companion)) names.push_back(name.substr(0, name.size() - companion.size()));
    for (const std::string& name : names) PAGODA_RETURN_IF_ERROR(unpack(name, name + companion));
    return ok_status();
  }

 private:
  Status bad(const std::string& name, const std::string& what) const {
    return make_error(StatusCode::bad_file, "quantized tensor " + io::quoted(name) + " " + what);
  }
  TensorSource source(const TensorEntry& entry) const { return {files_[entry.file_index], entry}; }

  Status unpack(const std::string& name, const std::string& scales_name) {
    Packing packing = default_;
    if (const Json* own = object_.find(name); own != nullptr && own->is_object()) {
      ConfigFields fields(*own, "config.json: quantization: " + name);
      packing = read_packing(fields);
      PAGODA_RETURN_IF_ERROR(fields.status());
    }
    const auto weight = tensors_.find(name + ".weight"), scales = tensors_.find(scales_name);
    const auto biases = tensors_.find(name + ".biases");
    if (weight == tensors_.end()) return bad(name, "has scales and no weight");
    const bool is_affine = packing.mode == Mode::affine, has_biases = biases != tensors_.end();
    if (is_affine != has_biases) return bad(name, is_affine ? "has no biases" : "has biases");
    const TensorEntry &w = weight->second, &s = scales->second;
    const DType wanted = packing.mode == Mode::fp8 ? DType::f8_e4m3 : DType::u32;
    if (w.dtype != wanted || w.shape.size() < 2 || s.shape.size() != w.shape.size())
      return bad(name, "has an odd form");
    if (packing.mode == Mode::mxfp4 || packing.mode == Mode::nvfp4 ? s.dtype != DType::u8 : !is_float(s.dtype))
      return bad(name, "has odd scales");
    const bool is_fp8 = packing.mode == Mode::fp8;
    if (!is_fp8 && w.shape.back() * 32 % packing.bits != 0) return bad(name, "has rows of no whole elements");
    const int64_t cols = is_fp8 ? w.shape.back() : w.shape.back() * 32 / packing.bits;
    if (!fits(packing, w, s, cols)) return bad(name, "has scales that do not fit its shape");
    if (has_biases && (biases->second.shape != s.shape || biases->second.dtype != s.dtype))
      return bad(name, "has biases unlike its scales");
    TensorEntry entry = w;
    entry.dtype = DType::f32;
    entry.shape.back() = cols;
    entry.bits = packing.bits;
    std::optional<TensorSource> bias_source;
    if (has_biases) bias_source = source(biases->second);
    entry.decoder = std::make_shared<PackedDecoder>(packing, static_cast<uint64_t>(cols), source(w), source(s),
                                                    std::move(bias_source));
    weight->second = std::move(entry);
    tensors_.erase(scales);
    if (has_biases) tensors_.erase(biases);
    return ok_status();
  }

  static bool fits(const Packing& packing, const TensorEntry& w, const TensorEntry& s, int64_t cols) noexcept {
    const int64_t group = packing.group, scale_cols = (cols + group - 1) / group;
    if (packing.mode == Mode::fp8)
      return w.shape.size() == 2 && s.shape[1] == scale_cols && s.shape[0] == (w.shape[0] + group - 1) / group;
    for (size_t i = 0; i + 1 < w.shape.size(); ++i)
      if (w.shape[i] != s.shape[i]) return false;
    return s.shape.back() * group == cols;
  }

  const Json& object_;
  Packing default_;
  std::span<const std::shared_ptr<File>> files_;
  TensorMap& tensors_;
};

// `keeps_norms`: mlx-lm and mlx-vlm leave this family's zero-centred norms as they are.
void undo_mlx(std::span<const std::shared_ptr<File>> files, bool keeps_norms, TensorMap& tensors) {
  bool is_mlx = false;
  for (auto& [name, tensor] : tensors) {
    const bool is_mixer = name.find(".linear_attn.") != name.npos || name.find(".ple.") != name.npos;
    const bool is_conv = is_mixer && name.ends_with("conv1d.weight");
    if (!is_conv || tensor.shape.size() != 3 || tensor.shape[2] != 1 || tensor.shape[1] == 1) continue;
    std::swap(tensor.shape[1], tensor.shape[2]);
    is_mlx = is_mlx || name.ends_with(".conv1d.weight");  // Olmo-Hybrid has others, and no zero-centred norms
  }
  for (auto& [name, tensor] : tensors) {
    const bool is_gated = name.ends_with("linear_attn.norm.weight");
    const bool is_vision = name.starts_with("vision_tower.");  // its norms are stored as they are
    const bool is_named_norm = name.ends_with("norm.weight") || name.ends_with(".pre_fc_norm_embedding.weight") ||
                               name.ends_with(".pre_fc_norm_hidden.weight");  // the last two of an MTP head
    const bool is_norm = is_named_norm && tensor.shape.size() == 1 && is_float(tensor.dtype);
    if (!is_mlx || keeps_norms || !is_norm || is_gated || is_vision) continue;
    tensor.decoder = std::make_shared<MinusOneDecoder>(TensorSource{files[tensor.file_index], tensor});
    tensor.dtype = DType::f32;
  }
}

Status rename(const std::string& name, std::string new_name, TensorMap& tensors) {
  auto node = tensors.extract(name);
  node.key() = std::move(new_name);
  if (tensors.insert(std::move(node)).inserted) return ok_status();
  return make_error(StatusCode::bad_file, "tensor " + io::quoted(name) + " also exists under another name");
}

// Olmo-Hybrid as published, and as transformers saves it, has these names for some of its norms. The text model of
// Qwen3-Omni is part of its thinker.
Status rename_parts(TensorMap& tensors) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {".attention_layer_norm.weight", ".input_layernorm.weight"},
      {".feedforward_layer_norm.weight", ".post_attention_layernorm.weight"}};
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const auto& [name, tensor] : tensors)
    for (const auto& [old_end, end] : kNames)
      if (name.ends_with(old_end)) renamed.emplace_back(name, name.substr(0, name.size() - old_end.size()).append(end));
  for (const auto& [name, tensor] : tensors)
    if (name.starts_with("thinker.model.") || name.starts_with("thinker.lm_head."))
      renamed.emplace_back(name, name.substr(std::string_view("thinker.").size()));
  for (auto& [name, new_name] : renamed) PAGODA_RETURN_IF_ERROR(rename(name, std::move(new_name), tensors));
  return ok_status();
}

// Qwen4-Exp: mlx-lm has no module of that name and saves the text model as "model.", mlx-vlm spells the tensors of a
// table of n-grams differently.
Status rename_qwen4_exp(const std::string& prefix, TensorMap& tensors) {
  constexpr std::string_view kModel = "model.", kShard = ".ngram_embedding.shards.";
  const bool is_bare = prefix != kModel && tensors.contains("model.embed_tokens.weight");
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const auto& [name, tensor] : tensors) {
    std::string own = is_bare && name.starts_with(kModel) ? prefix + name.substr(kModel.size()) : name;
    if (const size_t at = own.find(kShard); at != own.npos) own.replace(at, kShard.size(), ".ngram_embedding.shard_");
    if (own != name) renamed.emplace_back(name, std::move(own));
  }
  for (auto& [name, own] : renamed) PAGODA_RETURN_IF_ERROR(rename(name, std::move(own), tensors));
  return ok_status();
}

// mlx-lm and mlx-vlm put Qwen3.5's text model into a module of that name.
Status rename_mlx(const std::string& prefix, TensorMap& tensors) {
  constexpr std::string_view kModule = "language_model.", kModel = "language_model.model.";
  std::vector<std::string> names;
  for (auto found = tensors.lower_bound(std::string(kModule)); found != tensors.end(); ++found) {
    if (!found->first.starts_with(kModule)) break;
    names.push_back(found->first);
  }
  for (const std::string& name : names) {
    std::string own = name.starts_with(kModel) ? prefix + name.substr(kModel.size()) : name.substr(kModule.size());
    PAGODA_RETURN_IF_ERROR(rename(name, std::move(own), tensors));
  }
  return ok_status();
}

}  // namespace

void check_quantization(ConfigFields& fields) {
  const Json* object = nullptr;
  std::optional<IntegerPacking> integers;
  read_default(fields, object, integers);
  if (fields.find("compression_config") != nullptr)
    fields.fail("compression_config", "is present: quantized weights are not supported", StatusCode::unsupported);
}

Status decode_quantized(std::string_view config_json, std::span<const std::shared_ptr<File>> files,
                        TensorMap& tensors) {
  const auto parsed = parse_json(config_json, {.max_depth = 64, .max_values = 1'000'000});
  if (!parsed.is_ok()) return make_error(parsed.status.code, "config.json: " + parsed.status.message);
  ConfigFields root(*parsed, "config.json");
  const Json* object = nullptr;
  std::optional<IntegerPacking> integers;
  const auto packing = read_default(root, object, integers);
  PAGODA_RETURN_IF_ERROR(root.status());
  const bool is_qwen4_exp = root.string("model_type", "").starts_with("qwen4_exp");
  undo_mlx(files, /*keeps_norms=*/is_qwen4_exp, tensors);
  if (integers) PAGODA_RETURN_IF_ERROR(unpack_integers(*integers, files, tensors));
  if (packing) PAGODA_RETURN_IF_ERROR(Unpacker(*object, *packing, files, tensors).run());
  PAGODA_RETURN_IF_ERROR(rename_parts(tensors));
  PAGODA_RETURN_IF_ERROR(rename_mlx(tensor_prefix(*parsed), tensors));
  return is_qwen4_exp ? rename_qwen4_exp(tensor_prefix(*parsed), tensors) : ok_status();
}

}  // namespace pagoda::io
