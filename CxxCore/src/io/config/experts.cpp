// Which layers are mixtures of experts, and their sizes; keys, defaults and rules of each family in transformers.
#include "io/config/experts.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "io/config/kimi.h"
#include "io/config/limits.h"

namespace pagoda::io {
namespace {

// Qwen3-MoE and Qwen3-Next: every decoder_sparse_step-th layer, unless mlp_only_layers lists it. In Qwen3.5-MoE every
// layer is a mixture, regardless of these keys, and in Qwen4-Exp.
std::vector<bool> read_mixture_layers(ConfigFields& text, const ModelConfig& config) {
  std::vector<bool> is_mixture(static_cast<size_t>(config.num_layers), true);
  if (config.family == Family::qwen3_5_moe || config.family == Family::qwen4_exp) return is_mixture;
  const int32_t step = text.integer("decoder_sparse_step", 1, INT32_MAX, 1);
  for (int32_t layer = 0; layer < config.num_layers; ++layer) is_mixture[layer] = (layer + 1) % step == 0;
  const Json* dense = text.find("mlp_only_layers");
  if (dense == nullptr) return is_mixture;
  text.check(dense->is_array(), "mlp_only_layers", "is not a list");
  for (const Json& layer : dense->items()) {
    text.check(layer.is_integer(), "mlp_only_layers", "has an entry that is not an integer");
    const int64_t index = layer.is_integer() ? layer.as_integer() : -1;
    if (index >= 0 && index < config.num_layers) is_mixture[index] = false;
  }
  return is_mixture;
}

// DeepSeek: dense layers first; GLM names each.
std::vector<bool> read_sparse_layers(ConfigFields& text, const ModelConfig& config) {
  std::vector<bool> is_mixture(static_cast<size_t>(config.num_layers), true);
  const bool is_glm = config.family == Family::glm4_moe_lite;
  const Json* types = is_glm ? text.find("mlp_layer_types") : nullptr;
  if (types != nullptr) {
    text.check(types->is_array() && types->items().size() == is_mixture.size(), "mlp_layer_types",
               "is not a list of num_hidden_layers names");
    for (size_t i = 0; text.is_ok() && i < is_mixture.size(); ++i)
      is_mixture[i] = types->items()[i].is_string() && types->items()[i].as_string() == "sparse";
    return is_mixture;
  }
  const int32_t absent = config.family == Family::deepseek_v2 ? 0 : 3;
  const int32_t first = is_glm ? 1 : text.integer("first_k_dense_replace", 0, INT32_MAX, absent);
  for (int32_t layer = 0; layer < std::min(first, config.num_layers); ++layer) is_mixture[layer] = false;
  return is_mixture;
}

// DeepSeek-V2 uses groups only if topk_method requires them, the other families always.
void read_groups(ConfigFields& text, ModelConfig& config) {
  const bool is_v2 = config.family == Family::deepseek_v2, is_v3 = config.family == Family::deepseek_v3;
  const std::string method = is_v2 ? text.string("topk_method", "greedy") : "";
  if (is_v2 && method != "greedy" && method != "group_limited_greedy")
    text.fail("topk_method", "is not greedy or group_limited_greedy", StatusCode::unsupported);
  if (is_v2 && text.string("scoring_func", "softmax") != "softmax")
    text.fail("scoring_func", "is not softmax", StatusCode::unsupported);
  if (text.integer("moe_layer_freq", 1, INT32_MAX, 1) != 1)
    text.fail("moe_layer_freq", "other than 1 is not supported", StatusCode::unsupported);
  if (method == "greedy") return;
  config.num_expert_groups = text.integer("n_group", 1, kMaxExperts, is_v3 ? 8 : 1);
  config.groups_per_token = text.integer("topk_group", 1, kMaxExperts, is_v3 ? 4 : 1);
  const int32_t groups = config.num_expert_groups, size = config.num_experts / groups;
  text.check(groups * size == config.num_experts && config.groups_per_token <= groups, "n_group",
             concat(groups, " does not divide n_routed_experts ", config.num_experts));
  text.check(config.groups_per_token * size >= config.num_experts_per_token && (groups == 1 || is_v2 || size >= 2),
             "topk_group", "leaves too few experts");
}

void read_deepseek_experts(ConfigFields& text, ModelConfig& config) {
  const bool is_v2 = config.family == Family::deepseek_v2, is_glm = config.family == Family::glm4_moe_lite;
  config.is_mixture = read_sparse_layers(text, config);
  const auto num_mixtures = std::count(config.is_mixture.begin(), config.is_mixture.end(), true);
  if (num_mixtures < config.num_layers)
    config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediateSize,
                                            is_v2    ? 11008
                                            : is_glm ? 10240
                                                     : 18432);
  if (num_mixtures == 0) return;
  config.num_experts = text.integer("n_routed_experts", 1, kMaxExperts, is_v2 || is_glm ? 64 : 256);
  if (is_v2) config.num_experts_per_token = text.integer("num_experts_per_tok", 1, kMaxExpertsPerToken);
  else config.num_experts_per_token = text.integer("num_experts_per_tok", 1, kMaxExpertsPerToken, is_glm ? 4 : 8);
  config.expert_size = text.integer("moe_intermediate_size", 1, kMaxIntermediateSize,
                                    is_v2    ? 1407
                                    : is_glm ? 1536
                                             : 2048);
  const int64_t shared = int64_t{config.expert_size} * text.integer("n_shared_experts", 1, kMaxExperts, is_v2 ? 2 : 1);
  text.check(shared <= kMaxIntermediateSize, "n_shared_experts", "is too large");
  config.shared_expert_size = static_cast<int32_t>(std::min<int64_t>(shared, kMaxIntermediateSize));
  config.shared_expert_gate = false;
  config.sigmoid_router = !is_v2;
  config.norm_topk_prob = !is_v2 && text.boolean("norm_topk_prob", true);  // V2 ignores its own key
  config.expert_scale = static_cast<float>(text.number("routed_scaling_factor", -1e6, 1e6,
                                                       is_v2    ? 1.0
                                                       : is_glm ? 1.8
                                                                : 2.5));
  text.check(config.num_experts_per_token <= config.num_experts, "num_experts_per_tok",
             concat(config.num_experts_per_token, " is above n_routed_experts ", config.num_experts));
  if (text.is_ok()) read_groups(text, config);
}

}  // namespace

void read_experts(ConfigFields& text, ModelConfig& config) {
  if (config.family == Family::kimi_linear) return read_kimi_experts(text, config);
  if (has_deepseek_experts(config.family)) return read_deepseek_experts(text, config);
  const bool is_next = config.family == Family::qwen3_next || config.family == Family::qwen4_exp;
  const bool is_moe = config.family == Family::qwen3_moe;
  const bool is_vl = is_moe && config.architecture == "Qwen3VLMoeForConditionalGeneration";
  const bool is_omni = is_moe && config.architecture.starts_with("Qwen3OmniMoe");
  config.is_mixture = read_mixture_layers(text, config);
  const auto num_mixtures = std::count(config.is_mixture.begin(), config.is_mixture.end(), true);
  if (num_mixtures < config.num_layers)
    config.intermediate_size =
        text.integer("intermediate_size", 1, kMaxIntermediateSize, is_next || is_vl ? 5632 : 6144);
  if (num_mixtures == 0) return;
  const int32_t count = is_next  ? 512
                        : is_vl  ? 60
                        : is_moe ? 128
                                 : 256;  // transformers 5: num_local_experts in Qwen3-MoE
  config.num_experts =
      text.integer("num_experts", 1, kMaxExperts, text.integer("num_local_experts", 1, kMaxExperts, count));
  config.num_experts_per_token = text.integer("num_experts_per_tok", 1, kMaxExpertsPerToken,
                                              is_next ? 10
                                              : is_vl ? 4
                                                      : 8);
  config.expert_size = text.integer("moe_intermediate_size", 1, kMaxIntermediateSize,
                                    is_vl    ? 1408
                                    : is_moe ? 768
                                             : 512);
  if (!is_moe)
    config.shared_expert_size = text.integer("shared_expert_intermediate_size", 1, kMaxIntermediateSize, 512);
  config.norm_topk_prob =
      config.family == Family::qwen3_5_moe || is_vl || text.boolean("norm_topk_prob", !is_moe || is_omni);
  text.check(config.num_experts_per_token <= config.num_experts, "num_experts_per_tok",
             concat(config.num_experts_per_token, " is above num_experts ", config.num_experts));
}

}  // namespace pagoda::io
