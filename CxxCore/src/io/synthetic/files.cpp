// The tensors of a shape in checkpoint order, its header, and files whose content is computed on read.
#include "io/synthetic/files.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/quoted.h"
#include "io/config/model_config.h"
#include "io/synthetic/shapes.h"
#include "io/synthetic/weights.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kConfigName = "config.json", kWeightsName = "model.safetensors";

struct SyntheticTensor {
  std::string name;
  std::vector<int64_t> shape;
  Distribution distribution;
  uint64_t begin_bytes, end_bytes;  // from the end of the header
};

// The architecture's tensors as in Hugging Face checkpoints; must match model/weight_table.h.
class TensorList {
 public:
  explicit TensorList(const ModelConfig& config) : config_(config) {}

  std::vector<SyntheticTensor> build() {
    const int64_t hidden = config_.hidden_size;
    prefix_ = config_.tensor_prefix;
    matrix("embed_tokens", config_.vocab_size, hidden);
    norm("norm.weight", hidden);
    for (size_t layer = 0; layer < config_.layers.size(); ++layer) {
      prefix_ = concat(config_.tensor_prefix, "layers.", layer, ".");
      norm("input_layernorm.weight", hidden);
      norm("post_attention_layernorm.weight", hidden);
      if (config_.has_four_norms) {
        norm("pre_feedforward_layernorm.weight", hidden);
        norm("post_feedforward_layernorm.weight", hidden);
      }
      if (config_.layers[layer] == LayerKind::linear_attention)
        config_.channel_decay ? kimi_delta_attention() : gated_delta_net();
      else config_.has_latents() ? latent_attention() : attention();
      if (config_.has_mixture(static_cast<int32_t>(layer))) mixture_of_experts();
      else mlp("mlp.", config_.intermediate_size);
    }
    prefix_.clear();
    if (!config_.tie_word_embeddings) matrix("lm_head", config_.vocab_size, hidden);
    return std::move(tensors_);
  }

 private:
  void attention() {
    const int64_t hidden = config_.hidden_size, dim = config_.head_dim;
    const int64_t q = config_.num_heads * dim, kv = config_.num_kv_heads * dim;
    const int64_t q_and_gate = config_.attention_gate ? 2 * q : q;
    if (config_.is_fused) {
      matrix("self_attn.qkv_proj", q + 2 * kv, hidden);
      return matrix("self_attn.o_proj", hidden, q);
    }
    for (const auto& [name, rows] :
         {std::pair("q_proj", q_and_gate), std::pair("k_proj", kv), std::pair("v_proj", kv)}) {
      const std::string full = std::string("self_attn.") + name;
      matrix(full, rows, hidden);
      if (config_.attention_bias) add(full + ".bias", {rows}, Distribution::matrix);
    }
    matrix("self_attn.o_proj", hidden, q);
    if (!config_.qk_norm) return;
    norm("self_attn.q_norm.weight", dim);
    norm("self_attn.k_norm.weight", dim);
  }

  void latent_attention() {
    const int64_t hidden = config_.hidden_size, heads = config_.num_heads, rank = config_.kv_lora_rank;
    const int64_t q = heads * (config_.nope_head_dim + config_.head_dim), v = heads * config_.v_head_dim;
    if (config_.q_lora_rank > 0) {
      matrix("self_attn.q_a_proj", config_.q_lora_rank, hidden);
      norm("self_attn.q_a_layernorm.weight", config_.q_lora_rank);
      matrix("self_attn.q_b_proj", q, config_.q_lora_rank);
    } else {
      matrix("self_attn.q_proj", q, hidden);
    }
    matrix("self_attn.kv_a_proj_with_mqa", config_.latent_dim(), hidden);
    norm("self_attn.kv_a_layernorm.weight", rank);
    matrix("self_attn.kv_b_proj", heads * config_.nope_head_dim + v, rank);
    matrix("self_attn.o_proj", hidden, v);
  }

  void mlp(const std::string& name, int64_t inner) {
    const int64_t hidden = config_.hidden_size;
    if (config_.is_fused) {
      matrix(name + "gate_up_proj", 2 * inner, hidden);
    } else {
      matrix(name + "gate_proj", inner, hidden);
      matrix(name + "up_proj", inner, hidden);
    }
    matrix(name + "down_proj", hidden, inner);
  }

  void mixture_of_experts() {
    const int64_t hidden = config_.hidden_size, inner = config_.expert_size, count = config_.num_experts;
    matrix("mlp.gate", count, hidden);
    if (config_.sigmoid_router) add("mlp.gate.e_score_correction_bias", {count}, Distribution::matrix);
    if (config_.shared_expert_size > 0 && config_.shared_expert_gate) {
      matrix("mlp.shared_expert_gate", 1, hidden);
      mlp("mlp.shared_expert.", config_.shared_expert_size);
    } else if (config_.shared_expert_size > 0) {
      mlp("mlp.shared_experts.", config_.shared_expert_size);
    }
    add("mlp.experts.gate_up_proj", {count, 2 * inner, hidden}, Distribution::matrix);
    add("mlp.experts.down_proj", {count, hidden, inner}, Distribution::matrix);
  }

  void gated_delta_net() {
    const int64_t hidden = config_.hidden_size, v_heads = config_.linear_num_v_heads;
    const int64_t k = int64_t{config_.linear_num_k_heads} * config_.linear_k_head_dim;
    const int64_t v = v_heads * config_.linear_v_head_dim, conv_channels = 2 * k + v;
    matrix("linear_attn.in_proj_qkv", conv_channels, hidden);
    matrix("linear_attn.in_proj_z", v, hidden);
    matrix("linear_attn.in_proj_b", v_heads, hidden);
    matrix("linear_attn.in_proj_a", v_heads, hidden);
    matrix("linear_attn.out_proj", hidden, v);
    add("linear_attn.conv1d.weight", {conv_channels, 1, config_.linear_conv_kernel}, Distribution::convolution);
    add("linear_attn.A_log", {v_heads}, Distribution::log_decay);
    add("linear_attn.dt_bias", {v_heads}, Distribution::time_step);
    add("linear_attn.norm.weight", {config_.linear_v_head_dim}, Distribution::norm);
  }

  void kimi_delta_attention() {
    const int64_t hidden = config_.hidden_size, heads = config_.linear_num_v_heads, dim = config_.linear_v_head_dim;
    for (const char* part : {"q", "k", "v"}) {
      matrix(std::string("self_attn.") + part + "_proj", heads * dim, hidden);
      add(std::string("self_attn.") + part + "_conv1d.weight", {heads * dim, 1, config_.linear_conv_kernel},
          Distribution::convolution);
    }
    matrix("self_attn.b_proj", heads, hidden);
    for (const char* part : {"f", "g"}) {
      matrix(std::string("self_attn.") + part + "_a_proj", dim, hidden);
      matrix(std::string("self_attn.") + part + "_b_proj", heads * dim, dim);
    }
    matrix("self_attn.o_proj", hidden, heads * dim);
    add("self_attn.A_log", {1, 1, heads, 1}, Distribution::log_decay);
    add("self_attn.dt_bias", {heads * dim}, Distribution::time_step);
    add("self_attn.o_norm.weight", {dim}, Distribution::norm);
  }

  void matrix(const std::string& name, int64_t rows, int64_t cols) {
    add(name + ".weight", {rows, cols}, Distribution::matrix);
  }

  void norm(const std::string& name, int64_t size) {
    add(name, {size}, config_.zero_centered_norm ? Distribution::matrix : Distribution::norm);
  }

  void add(const std::string& name, std::vector<int64_t> shape, Distribution distribution) {
    uint64_t end = end_bytes_ + sizeof(uint16_t);
    for (int64_t size : shape) end = end_bytes_ + (end - end_bytes_) * static_cast<uint64_t>(size);
    tensors_.push_back({prefix_ + name, std::move(shape), distribution, end_bytes_, end});
    end_bytes_ = end;
  }

  const ModelConfig& config_;
  std::string prefix_;
  uint64_t end_bytes_ = 0;
  std::vector<SyntheticTensor> tensors_;
};

// Eight bytes of length, little-endian, then JSON.
std::string safetensors_header(const std::vector<SyntheticTensor>& tensors) {
  std::string json;
  for (const SyntheticTensor& tensor : tensors) {
    json += (json.empty() ? "{\"" : ",\"") + tensor.name + "\":{\"dtype\":\"BF16\",\"shape\":[";
    for (size_t i = 0; i < tensor.shape.size(); ++i) json += concat(i > 0 ? "," : "", tensor.shape[i]);
    json += concat("],\"data_offsets\":[", tensor.begin_bytes, ",", tensor.end_bytes, "]}");
  }
  json += "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string header;
  for (int shift = 0; shift < 64; shift += 8) header += static_cast<char>(json.size() >> shift & 0xff);
  return header + json;
}

// Stored bytes (`head`), followed by computed tensor data.
class SyntheticFile final : public File {
 public:
  SyntheticFile(std::string name, std::string head, std::vector<SyntheticTensor> tensors)
      : name_(std::move(name)), head_(std::move(head)), tensors_(std::move(tensors)) {}

  uint64_t size_bytes() const noexcept override {
    return head_.size() + (tensors_.empty() ? 0 : tensors_.back().end_bytes);
  }
  const std::string& name() const noexcept override { return name_; }

  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    PAGODA_RETURN_IF_ERROR(check_range(name_, size_bytes(), offset, into.size()));
    if (offset < head_.size()) {
      const size_t count = std::min(into.size(), head_.size() - static_cast<size_t>(offset));
      std::memcpy(into.data(), head_.data() + offset, count);
      offset += count;
      into = into.subspan(count);
    }
    uint64_t at = offset - head_.size();  // unused when nothing is left
    auto tensor = std::upper_bound(tensors_.begin(), tensors_.end(), at,
                                   [](uint64_t byte, const SyntheticTensor& t) { return byte < t.end_bytes; });
    for (; !into.empty(); ++tensor) {
      const size_t count = static_cast<size_t>(std::min<uint64_t>(into.size(), tensor->end_bytes - at));
      weights_.fill(tensor->distribution, static_cast<uint64_t>(tensor - tensors_.begin()), at - tensor->begin_bytes,
                    into.first(count));
      at += count;
      into = into.subspan(count);
    }
    return ok_status();
  }

 private:
  std::string name_, head_;
  std::vector<SyntheticTensor> tensors_;
  SyntheticWeights weights_;
};

class SyntheticFiles final : public ModelFiles {
 public:
  SyntheticFiles(std::string shape, std::string config_json, const ModelConfig& config)
      : shape_(std::move(shape)), config_json_(std::move(config_json)), tensors_(TensorList(config).build()) {}

  bool exists(std::string_view name) const noexcept override { return name == kConfigName || name == kWeightsName; }

  Result<std::unique_ptr<File>> open(std::string_view name) const override {
    const std::string full = description() + "/" + std::string(name);
    if (name == kConfigName)
      return std::unique_ptr<File>(std::make_unique<SyntheticFile>(full, config_json_, std::vector<SyntheticTensor>()));
    if (name == kWeightsName)
      return std::unique_ptr<File>(std::make_unique<SyntheticFile>(full, safetensors_header(tensors_), tensors_));
    return make_error(StatusCode::not_found, "no file " + io::quoted(name) + " in the synthetic model " + shape_);
  }

  std::vector<std::string> names() const override { return {std::string(kConfigName), std::string(kWeightsName)}; }
  std::string description() const override { return "shape " + shape_; }

 private:
  std::string shape_, config_json_;
  std::vector<SyntheticTensor> tensors_;
};

}  // namespace

Result<std::unique_ptr<ModelFiles>> open_synthetic_files(std::string_view shape) {
  PAGODA_ASSIGN_OR_RETURN(std::string json, shape_config_json(shape));
  PAGODA_ASSIGN_OR_RETURN(ModelConfig config, parse_model_config(json, "shape " + std::string(shape) + "/config.json"));
  return std::unique_ptr<ModelFiles>(std::make_unique<SyntheticFiles>(std::string(shape), std::move(json), config));
}

}  // namespace pagoda::io
