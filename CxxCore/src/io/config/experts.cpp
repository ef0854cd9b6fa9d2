// Which layers are mixtures of experts, and of what sizes; keys, defaults and rules of each family in transformers.
#include "io/config/experts.h"

#include <algorithm>
#include <string>

#include "io/config/limits.h"

namespace pagoda::io {
namespace {

// Qwen3-MoE and Qwen3-Next: every decoder_sparse_step-th layer, unless mlp_only_layers lists it. In Qwen3.5-MoE every
// layer is a mixture, whatever these keys say.
std::vector<bool> read_mixture_layers(ConfigFields& text, const ModelConfig& config) {
  std::vector<bool> is_mixture(static_cast<size_t>(config.num_layers), true);
  if (config.family == Family::qwen3_5_moe) return is_mixture;
  const int32_t step = text.integer("decoder_sparse_step", 1, INT32_MAX, 1);
  for (int32_t layer = 0; layer < config.num_layers; ++layer)
    is_mixture[static_cast<size_t>(layer)] = (layer + 1) % step == 0;
  const Json* dense = text.find("mlp_only_layers");
  if (dense == nullptr) return is_mixture;
  text.check(dense->is_array(), "mlp_only_layers", "is not a list");
  for (const Json& layer : dense->items()) {
    text.check(layer.is_integer(), "mlp_only_layers", "has an entry that is not an integer");
    const int64_t index = layer.is_integer() ? layer.as_integer() : -1;
    if (index >= 0 && index < config.num_layers) is_mixture[static_cast<size_t>(index)] = false;
  }
  return is_mixture;
}

}  // namespace

void read_experts(ConfigFields& text, ModelConfig& config) {
  const bool is_next = config.family == Family::qwen3_next, is_moe = config.family == Family::qwen3_moe;
  config.is_mixture = read_mixture_layers(text, config);
  const auto num_mixtures = std::count(config.is_mixture.begin(), config.is_mixture.end(), true);
  if (num_mixtures < config.num_layers)
    config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediateSize, is_next ? 5632 : 6144);
  if (num_mixtures == 0) return;
  const int32_t count = is_next ? 512 : is_moe ? 128 : 256;  // Qwen3-MoE from transformers 5 has the key with "local"
  config.num_experts =
      text.integer("num_experts", 1, kMaxExperts, text.integer("num_local_experts", 1, kMaxExperts, count));
  config.num_experts_per_token = text.integer("num_experts_per_tok", 1, kMaxExpertsPerToken, is_next ? 10 : 8);
  config.expert_size = text.integer("moe_intermediate_size", 1, kMaxIntermediateSize, is_moe ? 768 : 512);
  if (!is_moe)
    config.shared_expert_size = text.integer("shared_expert_intermediate_size", 1, kMaxIntermediateSize, 512);
  config.norm_topk_prob = config.family == Family::qwen3_5_moe || text.boolean("norm_topk_prob", !is_moe);
  text.check(
      config.num_experts_per_token <= config.num_experts, "num_experts_per_tok",
      std::to_string(config.num_experts_per_token) + " is above num_experts " + std::to_string(config.num_experts));
}

}  // namespace pagoda::io
