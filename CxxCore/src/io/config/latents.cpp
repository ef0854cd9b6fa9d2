// Keys and defaults of DeepSeek-V2 and V3, GLM-4.7-Flash, MiniCPM3 and Kimi-Linear in transformers.
#include "io/config/family_keys.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/concat.h"
#include "io/config/limits.h"

namespace pagoda::io {
namespace {

struct Defaults {
  int32_t kv_lora_rank, q_lora_rank, nope, rope, v;  // v == 0: hidden_size / num_attention_heads
};

Defaults defaults_of(Family family) noexcept {
  switch (family) {
    case Family::glm4_moe_lite: return {512, 768, 192, 64, 256};
    case Family::minicpm3: return {256, 768, 64, 32, 0};
    case Family::kimi_linear: return {512, 0, 128, 64, 128};
    default: return {512, 1536, 128, 64, 128};
  }
}

constexpr int32_t kRowMultiple = 16;  // of the outputs of a per-head product

}  // namespace

void read_latents(ConfigFields& text, ModelConfig& config) {
  const Defaults defaults = defaults_of(config.family);
  config.kv_lora_rank = text.integer("kv_lora_rank", 1, kMaxHiddenSize, defaults.kv_lora_rank);
  // null means none, absent means the default.
  config.q_lora_rank =
      text.integer("q_lora_rank", 1, kMaxHiddenSize, text.has("q_lora_rank") ? 0 : defaults.q_lora_rank);
  config.nope_head_dim = text.integer("qk_nope_head_dim", 1, kMaxHeadDim, defaults.nope);
  config.head_dim = text.integer("qk_rope_head_dim", 2, kMaxHeadDim, defaults.rope);
  const int32_t v = defaults.v > 0 ? defaults.v : config.hidden_size / config.num_heads;
  config.v_head_dim = text.integer("v_head_dim", 1, kMaxHeadDim, v);
  text.check(config.num_kv_heads == config.num_heads, "num_key_value_heads", "is not num_attention_heads");
  text.check(config.head_dim % 2 == 0, "qk_rope_head_dim", "is not even");
  for (const auto& [key, size] :
       {std::pair("kv_lora_rank", config.kv_lora_rank), std::pair("v_head_dim", config.v_head_dim)})
    if (size % kRowMultiple != 0)
      text.fail(key, concat(size, " is not supported, only multiples of ", kRowMultiple), StatusCode::unsupported);
  config.num_kv_heads = 1;
}

void read_latent_traits(ConfigFields& text, ModelConfig& config) {
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.nope_head_dim + config.head_dim));
  const bool may_choose = config.family == Family::deepseek_v3 || config.family == Family::glm4_moe_lite;
  config.rope_interleaved = may_choose ? text.boolean("rope_interleave", true) : config.family == Family::deepseek_v2;
  if (config.family != Family::minicpm3) return;
  config.embedding_scale = static_cast<float>(text.number("scale_emb", 1e-6, 1e6, 12.0));
  const double depth = std::sqrt(static_cast<double>(config.num_layers));
  const double scale = text.number("scale_depth", 1e-6, 1e6, text.has("scale_depth") ? depth : 1.4);
  config.residual_scale = static_cast<float>(scale / depth);
  const double base =
      text.integer("dim_model_base", 1, kMaxHiddenSize, text.has("dim_model_base") ? config.hidden_size : 256);
  config.logits_scale = static_cast<float>(base / config.hidden_size);
}

}  // namespace pagoda::io
