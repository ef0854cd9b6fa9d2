// Which layers are mixtures of experts, and their sizes; keys, defaults and rules of each family in transformers.
#include "io/config/family_keys.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "io/config/limits.h"

namespace pagoda::io {
namespace {

// What config.json means where it names no value; all sizes are of one layer.
struct QwenDefaults {
  int32_t intermediate_size, num_experts, num_per_token, expert_size;
  int32_t shared_size;  // 0: it has no shared expert
  enum class Norm : uint8_t { always, by_default, on_request } norm_topk;
  bool has_dense_layers = true;
};
QwenDefaults qwen_defaults(const ModelConfig& config) noexcept {
  using enum QwenDefaults::Norm;
  if (config.family == Family::qwen3_next) return {5632, 512, 10, 512, 512, by_default};
  if (config.family == Family::qwen4_exp) return {5632, 512, 10, 512, 512, by_default, false};
  if (config.family == Family::qwen3_5_moe) return {6144, 256, 8, 512, 512, always, false};
  if (config.architecture == "Qwen3VLMoeForConditionalGeneration") return {5632, 60, 4, 1408, 0, always};
  const bool is_omni = config.architecture.starts_with("Qwen3OmniMoe");
  return {6144, 128, 8, 768, 0, is_omni ? by_default : on_request};
}

struct DeepseekDefaults {
  int32_t intermediate_size, num_experts;
  int32_t num_per_token;  // 0: config.json must name it
  int32_t expert_size, num_shared;
  int32_t num_dense;  // layers before the first mixture
  int32_t num_groups, groups_per_token;
  double scale;
};
DeepseekDefaults deepseek_defaults(Family family) noexcept {
  if (family == Family::deepseek_v2) return {11008, 64, 0, 1407, 2, 0, 1, 1, 1.0};
  if (family == Family::glm4_moe_lite) return {10240, 64, 4, 1536, 1, 1, 1, 1, 1.8};
  return {18432, 256, 8, 2048, 1, 3, 8, 4, 2.5};
}

// Qwen3-MoE and Qwen3-Next: every decoder_sparse_step-th layer, unless mlp_only_layers lists it. In Qwen3.5-MoE every
// layer is a mixture, regardless of these keys, and in Qwen4-Exp.
std::vector<bool> read_mixture_layers(ConfigFields& text, const ModelConfig& config, const QwenDefaults& defaults) {
  std::vector<bool> is_mixture(static_cast<size_t>(config.num_layers), true);
  if (!defaults.has_dense_layers) return is_mixture;
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
  const int32_t absent = deepseek_defaults(config.family).num_dense;
  const int32_t first = is_glm ? absent : text.integer("first_k_dense_replace", 0, INT32_MAX, absent);
  for (int32_t layer = 0; layer < std::min(first, config.num_layers); ++layer) is_mixture[layer] = false;
  return is_mixture;
}

// DeepSeek-V2 uses groups only if topk_method requires them, the other families always.
void read_groups(ConfigFields& text, const DeepseekDefaults& defaults, ModelConfig& config) {
  const bool is_v2 = config.family == Family::deepseek_v2;
  const std::string method = is_v2 ? text.string("topk_method", "greedy") : "";
  if (is_v2 && method != "greedy" && method != "group_limited_greedy")
    text.fail("topk_method", "is not greedy or group_limited_greedy", StatusCode::unsupported);
  if (is_v2 && text.string("scoring_func", "softmax") != "softmax")
    text.fail("scoring_func", "is not softmax", StatusCode::unsupported);
  if (text.integer("moe_layer_freq", 1, INT32_MAX, 1) != 1)
    text.fail("moe_layer_freq", "other than 1 is not supported", StatusCode::unsupported);
  if (method == "greedy") return;
  config.num_expert_groups = text.integer("n_group", 1, kMaxExperts, defaults.num_groups);
  config.groups_per_token = text.integer("topk_group", 1, kMaxExperts, defaults.groups_per_token);
  const int32_t groups = config.num_expert_groups, size = config.num_experts / groups;
  text.check(groups * size == config.num_experts && config.groups_per_token <= groups, "n_group",
             concat(groups, " does not divide n_routed_experts ", config.num_experts));
  text.check(config.groups_per_token * size >= config.num_experts_per_token && (groups == 1 || is_v2 || size >= 2),
             "topk_group", "leaves too few experts");
}

void read_deepseek_experts(ConfigFields& text, ModelConfig& config) {
  const bool is_v2 = config.family == Family::deepseek_v2;
  const DeepseekDefaults defaults = deepseek_defaults(config.family);
  config.is_mixture = read_sparse_layers(text, config);
  const auto num_mixtures = std::count(config.is_mixture.begin(), config.is_mixture.end(), true);
  if (num_mixtures < config.num_layers)
    config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediateSize, defaults.intermediate_size);
  if (num_mixtures == 0) return;
  config.num_experts = text.integer("n_routed_experts", 1, kMaxExperts, defaults.num_experts);
  const char* per_token = "num_experts_per_tok";
  config.num_experts_per_token = defaults.num_per_token > 0
                                     ? text.integer(per_token, 1, kMaxExpertsPerToken, defaults.num_per_token)
                                     : text.integer(per_token, 1, kMaxExpertsPerToken);
  config.expert_size = text.integer("moe_intermediate_size", 1, kMaxIntermediateSize, defaults.expert_size);
  const int64_t shared =
      int64_t{config.expert_size} * text.integer("n_shared_experts", 1, kMaxExperts, defaults.num_shared);
  text.check(shared <= kMaxIntermediateSize, "n_shared_experts", "is too large");
  config.shared_expert_size = static_cast<int32_t>(std::min<int64_t>(shared, kMaxIntermediateSize));
  config.shared_expert_gate = false;
  config.sigmoid_router = !is_v2;
  config.norm_topk_prob = !is_v2 && text.boolean("norm_topk_prob", true);  // V2 ignores its own key
  config.expert_scale = static_cast<float>(text.number("routed_scaling_factor", -1e6, 1e6, defaults.scale));
  text.check(config.num_experts_per_token <= config.num_experts, "num_experts_per_tok",
             concat(config.num_experts_per_token, " is above n_routed_experts ", config.num_experts));
  if (text.is_ok()) read_groups(text, defaults, config);
}

void read_qwen_experts(ConfigFields& text, ModelConfig& config) {
  const QwenDefaults defaults = qwen_defaults(config);
  config.is_mixture = read_mixture_layers(text, config, defaults);
  const auto num_mixtures = std::count(config.is_mixture.begin(), config.is_mixture.end(), true);
  if (num_mixtures < config.num_layers)
    config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediateSize, defaults.intermediate_size);
  if (num_mixtures == 0) return;
  // num_local_experts: Qwen3-MoE in transformers 5.
  config.num_experts = text.integer("num_experts", 1, kMaxExperts,
                                    text.integer("num_local_experts", 1, kMaxExperts, defaults.num_experts));
  config.num_experts_per_token = text.integer("num_experts_per_tok", 1, kMaxExpertsPerToken, defaults.num_per_token);
  config.expert_size = text.integer("moe_intermediate_size", 1, kMaxIntermediateSize, defaults.expert_size);
  if (defaults.shared_size > 0)
    config.shared_expert_size =
        text.integer("shared_expert_intermediate_size", 1, kMaxIntermediateSize, defaults.shared_size);
  const bool norms = defaults.norm_topk != QwenDefaults::Norm::on_request;
  config.norm_topk_prob = defaults.norm_topk == QwenDefaults::Norm::always || text.boolean("norm_topk_prob", norms);
  text.check(config.num_experts_per_token <= config.num_experts, "num_experts_per_tok",
             concat(config.num_experts_per_token, " is above num_experts ", config.num_experts));
}

}  // namespace

void read_experts(ConfigFields& text, ModelConfig& config) {
  switch (config.traits().mixture) {
    case Mixture::none: break;
    case Mixture::qwen: return read_qwen_experts(text, config);
    case Mixture::deepseek: return read_deepseek_experts(text, config);
    case Mixture::kimi: return read_kimi_experts(text, config);
  }
}

}  // namespace pagoda::io
