// Layers, windows, experts and latents of each family that has them.
#include "io/gguf/families.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/concat.h"

namespace pagoda::io {
namespace {

void add_latents(Keys& keys, const GgufShape& shape, const char* key_length, Members& config) {
  const int64_t key = keys.positive(key_length), rope = shape.head_dim;
  if (key <= rope) keys.fail(keys.prefix() + key_length, "is not above rope.dimension_count");
  config.add("kv_lora_rank", keys.positive("attention.kv_lora_rank"));
  if (keys.find("attention.q_lora_rank")) config.add("q_lora_rank", keys.positive("attention.q_lora_rank"));
  else config.add("q_lora_rank", Json());
  config.add("qk_nope_head_dim", key - rope);
  config.add("qk_rope_head_dim", rope);
  config.add("intermediate_size", keys.positive("feed_forward_length"));
}

// Heads of the delta rule: as many as there are decays, if a layer has them (llama.cpp: as many as in the attention).
int64_t num_delta_heads(Keys& keys, const GgufShape& shape) {
  for (const Gguf& part : keys.parts())
    for (const auto& [name, tensor] : part.tensors())
      if (name.starts_with("blk.") && name.ends_with(".ssm_a"))
        return std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1}, std::multiplies<>());
  return shape.num_heads;
}

}  // namespace

// Settings that only Phi-3 and Gemma 3 have.
void add_windows(Keys& keys, const GgufShape& shape, Members& config) {
  const int64_t window = keys.find("attention.sliding_window").value_or(0);
  if (window > 0) config.add("sliding_window", window);
  else config.add("sliding_window", Json());
  if (keys.architecture().name == "phi3") {
    config.add("original_max_position_embeddings", keys.positive("rope.scaling.original_context_length", 4096));
    return;
  }
  constexpr int64_t kLargest = 62;  // layers of Gemma 3 27B, whose scale does not follow from head_dim
  const int64_t hidden = keys.positive("embedding_length");
  config.add("query_pre_attn_scalar",
             keys.positive("block_count") == kLargest ? hidden / shape.num_heads : shape.head_dim);
  config.add("sliding_window_pattern", int64_t{6});
  if (const auto cap = keys.gguf().number(keys.prefix() + "final_logit_softcapping"))
    config.add("final_logit_softcapping", *cap);
}

void add_experts(Keys& keys, Members& config) {
  config.add("num_experts", keys.positive("expert_count"));
  config.add("num_experts_per_tok", keys.positive("expert_used_count"));
  config.add("moe_intermediate_size", keys.positive("expert_feed_forward_length"));
  if (keys.architecture().is_hybrid)
    config.add("shared_expert_intermediate_size", keys.positive("expert_shared_feed_forward_length"));
  // The converter does not write the key for these architectures: llama.cpp always normalises.
  config.add("norm_topk_prob", keys.gguf().boolean(keys.prefix() + "expert_weights_norm").value_or(true));
}

// The file does not state the size of a value: it is the remainder of the latent projection after the keys. Scales are
// constants of the family, which llama.cpp does not read either.
void add_minicpm3(Keys& keys, const GgufShape& shape, Members& config) {
  add_latents(keys, shape, "attention.key_length", config);
  const GgufTensor* both = keys.tensor("blk.0.attn_kv_b.weight").tensor;
  const int64_t rows = both != nullptr ? both->shape.front() : 0;
  const int64_t value = rows / shape.num_heads - (keys.positive("attention.key_length") - shape.head_dim);
  if (value <= 0) return keys.fail("blk.0.attn_kv_b.weight", "is missing or smaller than keys and values of all heads");
  config.add("v_head_dim", value);
}

// Latent attention with experts. Routers with a sigmoid are those of DeepSeek-V3, which GLM-4.7-Flash uses too.
void add_deepseek(Keys& keys, const GgufShape& shape, bool is_sigmoid, Members& config) {
  add_latents(keys, shape, "attention.key_length_mla", config);
  config.add("v_head_dim", keys.positive("attention.value_length_mla"));
  config.add("first_k_dense_replace", keys.find("leading_dense_block_count").value_or(0));
  config.add("n_routed_experts", keys.positive("expert_count"));
  config.add("num_experts_per_tok", keys.positive("expert_used_count"));
  config.add("moe_intermediate_size", keys.positive("expert_feed_forward_length"));
  config.add("n_shared_experts", keys.positive("expert_shared_count"));
  config.add("routed_scaling_factor", keys.gguf().number(keys.prefix() + "expert_weights_scale").value_or(1.0));
  config.add("norm_topk_prob", keys.gguf().boolean(keys.prefix() + "expert_weights_norm").value_or(false));
  const int64_t groups = keys.positive("expert_group_count", 1);
  config.add("n_group", groups);
  config.add("topk_group", keys.positive("expert_group_used_count", 1));
  if (!is_sigmoid && groups > 1) config.add("topk_method", std::string_view("group_limited_greedy"));
}

// Layers of latents have one KV head, those of the delta rule none. Weights of experts always sum to the scale.
void add_kimi(Keys& keys, const GgufShape& shape, bool is_sigmoid, Members& config) {
  add_latents(keys, shape, "attention.key_length_mla", config);
  config.add("v_head_dim", keys.positive("attention.value_length_mla"));
  const std::string name = keys.prefix() + "attention.head_count_kv";
  const auto kv_heads = keys.gguf().integers(name);
  if (!kv_heads || static_cast<int64_t>(kv_heads->size()) != keys.positive("block_count"))
    return keys.fail(name, "is not a list with an entry for each layer");
  std::vector<Json> full, delta;
  for (size_t layer = 0; layer < kv_heads->size(); ++layer)
    ((*kv_heads)[layer] != 0 ? full : delta).push_back(Json::make_integer(static_cast<int64_t>(layer) + 1));
  Members linear;
  linear.add("full_attn_layers", Json::make_array(std::move(full)));
  linear.add("kda_layers", Json::make_array(std::move(delta)));
  linear.add("num_heads", num_delta_heads(keys, shape));
  linear.add("head_dim", keys.positive("kda.head_dim"));
  linear.add("short_conv_kernel_size", keys.positive("ssm.conv_kernel"));
  config.add("linear_attn_config", linear.take());
  config.add("first_k_dense_replace", keys.find("leading_dense_block_count").value_or(0));
  config.add("num_experts", keys.positive("expert_count"));
  config.add("num_experts_per_token", keys.positive("expert_used_count"));
  config.add("moe_intermediate_size", keys.positive("expert_feed_forward_length"));
  config.add("num_shared_experts", keys.positive("expert_shared_count"));
  config.add("routed_scaling_factor", keys.gguf().number(keys.prefix() + "expert_weights_scale").value_or(1.0));
  config.add("moe_renormalize", true);
  config.add("num_expert_group", keys.positive("expert_group_count", 1));
  config.add("topk_group", keys.positive("expert_group_used_count", 1));
  config.add("moe_router_activation_func", std::string_view(is_sigmoid ? "sigmoid" : "softmax"));
  config.add("model_max_length", keys.positive("context_length"));
}

// Derived from the tensors of each layer, because the converter was seen to write an interval of 4 for every model. If
// a layer has no norm, derived from the interval; the file is refused later.
void add_layer_types(Keys& keys, Members& config) {
  const int64_t num_layers = keys.positive("block_count") - keys.find("nextn_predict_layers").value_or(0);
  const auto has = [&](int64_t layer, const char* name) { return keys.has_tensor(concat("blk.", layer, ".", name)); };
  const char* norm = keys.architecture().name == "qwen4exp" ? "hc_attn_norm.weight" : "attn_norm.weight";
  std::vector<Json> types;
  for (int64_t layer = 0; layer < num_layers && has(layer, norm); ++layer)
    types.push_back(Json::make_string(has(layer, "ssm_a") ? "linear_attention" : "full_attention"));
  if (static_cast<int64_t>(types.size()) == num_layers) config.add("layer_types", Json::make_array(std::move(types)));
  else config.add("full_attention_interval", keys.positive("full_attention_interval", 4));
}

// From the file's metadata; without it, whether routers have a bias.
bool has_sigmoid_router(Keys& keys) {
  constexpr int64_t kSoftmax = 1, kSigmoid = 2;
  const int64_t function = keys.find("expert_gating_func").value_or(0);
  if (function > kSigmoid) keys.fail(keys.prefix() + "expert_gating_func", "is not supported");
  if (function != 0) return function != kSoftmax;
  const auto has_bias = [](const Gguf& part) {
    return std::ranges::any_of(part.tensors(),
                               [](const auto& tensor) { return tensor.first.ends_with(".exp_probs_b.bias"); });
  };
  return std::ranges::any_of(keys.parts(), has_bias);
}

}  // namespace pagoda::io
