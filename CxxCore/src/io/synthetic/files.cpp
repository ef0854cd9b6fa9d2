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
#include "io/synthetic/text.h"
#include "io/synthetic/weights.h"
#include "io/weight_table.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kConfigName = "config.json", kWeightsName = "model.safetensors",
                           kTokenizerName = "tokenizer.json", kTemplateName = "chat_template.jinja";

struct SyntheticTensor {
  std::string name;
  std::vector<int64_t> shape;
  Distribution distribution;
  uint64_t begin_bytes, end_bytes;  // from the end of the header
};

Distribution distribution_of(const WeightSpec& spec, const ModelConfig& config) noexcept {
  switch (spec.role) {
    case Role::conv:
    case Role::ngram_conv: return Distribution::convolution;
    case Role::a_log: return Distribution::log_decay;
    case Role::dt_bias: return Distribution::time_step;
    case Role::gdn_norm: return Distribution::norm;
    case Role::final_norm:
    case Role::input_norm:
    case Role::post_norm:
    case Role::mixer_norm:
    case Role::mlp_norm:
    case Role::q_norm:
    case Role::k_norm:
    case Role::mixer_streams_norm:
    case Role::mlp_streams_norm:
    case Role::index_q_norm:
    case Role::index_k_norm:
    case Role::ngram_key_norm:
    case Role::ngram_query_norm:
    case Role::ngram_conv_norm: return config.zero_centered_norm ? Distribution::matrix : Distribution::norm;
    default: return Distribution::matrix;
  }
}

// The tensors that a Hugging Face checkpoint of this configuration has.
std::vector<SyntheticTensor> list_tensors(const ModelConfig& config) {
  std::vector<SyntheticTensor> tensors;
  uint64_t end = 0;
  for (WeightSpec& spec : weight_table(config, {.experts = ExpertLayout::stacked})) {
    if (!tensors.empty() && tensors.back().name == spec.name) continue;  // a tensor with two roles
    uint64_t size = sizeof(uint16_t);
    for (int64_t dim : spec.shape) size *= static_cast<uint64_t>(dim);
    const Distribution distribution = distribution_of(spec, config);
    tensors.push_back({std::move(spec.name), std::move(spec.shape), distribution, end, end + size});
    end += size;
  }
  return tensors;
}

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
    uint64_t at = offset - head_.size();  // unused if no bytes are left
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
      : shape_(std::move(shape)),
        config_json_(std::move(config_json)),
        vocab_size_(config.vocab_size),
        tensors_(list_tensors(config)) {}

  bool exists(std::string_view name) const noexcept override {
    return name == kConfigName || name == kWeightsName || name == kTokenizerName || name == kTemplateName;
  }

  Result<std::unique_ptr<File>> open(std::string_view name) const override {
    if (name == kConfigName) return make_file(name, config_json_);
    if (name == kWeightsName) return make_file(name, safetensors_header(tensors_), tensors_);
    if (name == kTokenizerName) return make_file(name, shape_tokenizer_json(vocab_size_));
    if (name == kTemplateName) return make_file(name, std::string(shape_chat_template()));
    return make_error(StatusCode::not_found, "no file " + io::quoted(name) + " in the synthetic model " + shape_);
  }

  std::vector<std::string> names() const override {
    return {std::string(kTemplateName), std::string(kConfigName), std::string(kWeightsName),
            std::string(kTokenizerName)};
  }
  std::string description() const override { return "shape " + shape_; }

 private:
  std::unique_ptr<File> make_file(std::string_view name, std::string head,
                                  std::vector<SyntheticTensor> tensors = {}) const {
    return std::make_unique<SyntheticFile>(description() + "/" + std::string(name), std::move(head),
                                           std::move(tensors));
  }

  std::string shape_, config_json_;
  int32_t vocab_size_;
  std::vector<SyntheticTensor> tensors_;
};

}  // namespace

Result<std::unique_ptr<ModelFiles>> open_synthetic_files(std::string_view shape) {
  PAGODA_ASSIGN_OR_RETURN(std::string json, shape_config_json(shape));
  return open_synthetic_files(shape, std::move(json));
}

Result<std::unique_ptr<ModelFiles>> open_synthetic_files(std::string_view name, std::string config_json) {
  PAGODA_ASSIGN_OR_RETURN(ModelConfig config,
                          parse_model_config(config_json, "shape " + std::string(name) + "/config.json"));
  return std::unique_ptr<ModelFiles>(
      std::make_unique<SyntheticFiles>(std::string(name), std::move(config_json), config));
}

}  // namespace pagoda::io
