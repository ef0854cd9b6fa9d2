// Keys and defaults of Kimi-Linear in transformers. Published files use their own names for keys shared with DeepSeek;
// both are read, and their own names take precedence.
#include "io/config/family_keys.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "io/config/limits.h"

namespace pagoda::io {
namespace {

std::vector<bool> read_mixture_layers(ConfigFields& text, const ModelConfig& config) {
  std::vector<bool> is_mixture(static_cast<size_t>(config.num_layers), true);
  const Json* types = text.find("mlp_layer_types");
  if (types != nullptr) {
    text.check(types->is_array() && types->items().size() == is_mixture.size(), "mlp_layer_types",
               "is not a list of num_hidden_layers names");
    for (size_t i = 0; text.is_ok() && i < is_mixture.size(); ++i)
      is_mixture[i] = types->items()[i].is_string() && types->items()[i].as_string() == "sparse";
    return is_mixture;
  }
  const int32_t first = text.integer("first_k_dense_replace", 0, INT32_MAX, 1);
  for (int32_t layer = 0; layer < std::min(first, config.num_layers); ++layer) is_mixture[layer] = false;
  return is_mixture;
}

int32_t read_either(ConfigFields& text, const char* own, const char* shared, int32_t max, int32_t fallback) {
  return text.integer(own, 1, max, text.integer(shared, 1, max, fallback));
}

void read_groups(ConfigFields& text, ModelConfig& config) {
  config.num_expert_groups = read_either(text, "num_expert_group", "n_group", kMaxExperts, 1);
  config.groups_per_token = text.integer("topk_group", 1, kMaxExperts, 1);
  const int32_t groups = config.num_expert_groups, size = config.num_experts / groups;
  text.check(groups * size == config.num_experts && config.groups_per_token <= groups, "num_expert_group",
             concat(groups, " does not divide num_experts ", config.num_experts));
  text.check(config.groups_per_token * size >= config.num_experts_per_token && (groups == 1 || size >= 2), "topk_group",
             "leaves too few experts");
}

// Layer numbers in the list start at 1.
void read_layer_list(ConfigFields& fields, const char* key, LayerKind kind, std::vector<LayerKind>& layers,
                     std::vector<bool>& is_named) {
  const Json* list = fields.find(key);
  fields.check(list->is_array(), key, "is not a list");
  for (const Json& item : list->items()) {
    const int64_t number = item.is_integer() ? item.as_integer() : 0;
    const bool exists = number >= 1 && number <= static_cast<int64_t>(layers.size());
    fields.check(exists, key, concat("has an entry that is no layer from 1 to ", layers.size()));
    if (!exists) return;
    layers[number - 1] = kind;
    is_named[number - 1] = true;
  }
}

}  // namespace

void read_kimi_experts(ConfigFields& text, ModelConfig& config) {
  config.is_mixture = read_mixture_layers(text, config);
  const auto num_mixtures = std::count(config.is_mixture.begin(), config.is_mixture.end(), true);
  if (num_mixtures < config.num_layers)
    config.intermediate_size = text.integer("intermediate_size", 1, kMaxIntermediateSize, 9216);
  if (num_mixtures == 0) return;
  config.num_experts = read_either(text, "num_experts", "num_local_experts", kMaxExperts, 256);
  config.num_experts_per_token =
      read_either(text, "num_experts_per_token", "num_experts_per_tok", kMaxExpertsPerToken, 8);
  config.expert_size = text.integer("moe_intermediate_size", 1, kMaxIntermediateSize, 1024);
  const int64_t shared =
      int64_t{config.expert_size} * read_either(text, "num_shared_experts", "n_shared_experts", kMaxExperts, 1);
  text.check(shared <= kMaxIntermediateSize, "num_shared_experts", "is too large");
  config.shared_expert_size = static_cast<int32_t>(std::min<int64_t>(shared, kMaxIntermediateSize));
  config.shared_expert_gate = false;
  config.sigmoid_router = true;
  config.norm_topk_prob = text.boolean("moe_renormalize", text.boolean("norm_topk_prob", true));
  config.expert_scale = static_cast<float>(text.number("routed_scaling_factor", -1e6, 1e6, 2.446));
  text.check(config.num_experts_per_token <= config.num_experts, "num_experts_per_token",
             concat(config.num_experts_per_token, " is above num_experts ", config.num_experts));
  if (text.string("moe_router_activation_func", "sigmoid") != "sigmoid")
    text.fail("moe_router_activation_func", "is not sigmoid", StatusCode::unsupported);
  if (text.integer("moe_layer_freq", 1, INT32_MAX, 1) != 1)
    text.fail("moe_layer_freq", "other than 1 is not supported", StatusCode::unsupported);
  if (text.is_ok()) read_groups(text, config);
}

void read_kimi_traits(ConfigFields& text, ModelConfig& config) {
  const Json none;
  const Json* json = text.find("linear_attn_config");
  if (json != nullptr && !json->is_object()) text.fail("linear_attn_config", "is not an object");
  ConfigFields linear(json != nullptr ? *json : none, text.where() + ": linear_attn_config");
  const int32_t heads = text.integer("linear_num_heads", 1, kMaxHeads, 32);
  const int32_t dim = text.integer("linear_head_dim", 1, kMaxHeadDim, 128);
  const int32_t kernel = text.integer("linear_conv_kernel_dim", 2, kMaxConvKernel, 4);
  config.linear_num_k_heads = config.linear_num_v_heads = linear.integer("num_heads", 1, kMaxHeads, heads);
  config.linear_k_head_dim = config.linear_v_head_dim = linear.integer("head_dim", 1, kMaxHeadDim, dim);
  config.linear_conv_kernel = linear.integer("short_conv_kernel_size", 2, kMaxConvKernel, kernel);
  config.channel_decay = true;
  if (!text.boolean("mla_use_nope", true)) text.fail("mla_use_nope", "false is not supported", StatusCode::unsupported);
  text.adopt(linear.status());
}

std::vector<LayerKind> read_kimi_layers(ConfigFields& text, const ModelConfig& config) {
  std::vector<LayerKind> layers;
  for (int32_t layer = 0; layer < config.num_layers; ++layer)
    layers.push_back(layer > 0 && layer % 4 == 0 ? LayerKind::full_attention : LayerKind::linear_attention);
  const Json* json = text.find("linear_attn_config");
  if (json == nullptr || !json->is_object()) return layers;
  ConfigFields linear(*json, text.where() + ": linear_attn_config");
  if (linear.find("full_attn_layers") == nullptr || linear.find("kda_layers") == nullptr) return layers;
  std::vector<bool> is_named(layers.size(), false);
  read_layer_list(linear, "full_attn_layers", LayerKind::full_attention, layers, is_named);
  read_layer_list(linear, "kda_layers", LayerKind::linear_attention, layers, is_named);
  linear.check(std::count(is_named.begin(), is_named.end(), false) == 0, "kda_layers",
               "and full_attn_layers together do not name every layer");
  text.adopt(linear.status());
  return layers;
}

}  // namespace pagoda::io
