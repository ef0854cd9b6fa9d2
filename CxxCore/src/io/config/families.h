// Families of models, and in one table what the configuration class of each in transformers does differently.
#pragma once

#include <cstdint>
#include <string_view>

namespace pagoda::io {

enum class Family : uint8_t {
  qwen3_5,
  qwen3,
  qwen2,
  llama,
  qwen3_next,
  qwen3_5_moe,
  qwen3_moe,
  mistral,
  phi3,
  gemma3,
  deepseek_v2,
  deepseek_v3,
  glm4_moe_lite,
  minicpm3,
  kimi_linear,
  olmo_hybrid,
  qwen4_exp
};

// The linear attention among a family's attention layers. Gated DeltaNet: the attention layers have an output gate, and
// norms are zero-centred.
enum class LinearLayers : uint8_t { none, gated_delta_net, kimi_delta, olmo };

// How config.json describes a mixture of experts. DeepSeek: experts in groups, a shared expert without a gate, dense
// layers first.
enum class Mixture : uint8_t { none, qwen, deepseek, kimi };

// Which layers slide, if there is a window: those from max_window_layers on, all, or all but every n-th; none: never.
enum class Window : uint8_t { none, late_layers, all_layers, pattern };

// Of q, k, v and the output if attention_bias says so; of q, k and v always; never, whatever attention_bias says.
enum class AttentionBias : uint8_t { by_key, inputs, none };

// What mlp_bias does.
enum class MlpBias : uint8_t { ignored, by_key, refused };

enum class LongRope : uint8_t { refused, supported, only };  // only: no other scaling is

struct FamilyTraits {
  Family family;
  std::string_view name;  // as in `pagoda info`
  LinearLayers linear_layers = LinearLayers::none;
  Mixture mixture = Mixture::none;
  bool has_latents = false;  // multi-head latent attention (MLA)
  bool has_qk_norm = false;
  bool has_zero_centered_norm = false;
  bool is_fused = false;  // as ModelConfig::is_fused
  AttentionBias attention_bias = AttentionBias::by_key;
  MlpBias mlp_bias = MlpBias::ignored;
  Window window = Window::none;
  bool may_have_no_window = false;  // use_sliding_window turns it on
  int32_t default_window = 4096;    // 0: none
  LongRope long_rope = LongRope::refused;
  double rotary_share = 0.0;  // default of partial_rotary_factor; 0: only 1 is supported
  double rms_norm_eps = 1e-6;
  int32_t eos_token_id = -1;  // -1: none
  bool ties_embeddings = false;
  bool has_vision_tower = false;  // some of its checkpoints have one
};

const FamilyTraits& traits_of(Family family) noexcept;

}  // namespace pagoda::io
