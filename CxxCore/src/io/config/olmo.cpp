// Keys and defaults of Olmo-Hybrid in transformers.
#include "io/config/family_keys.h"

#include <algorithm>

#include "base/concat.h"
#include "io/config/limits.h"

namespace pagoda::io {

void read_olmo_traits(ConfigFields& text, ModelConfig& config) {
  config.qk_norm = config.norms_all_heads = config.norms_outputs = true;
  config.linear_norm_eps = 1e-5f;  // whatever rms_norm_eps is
  config.linear_beta_scale = text.boolean("linear_allow_neg_eigval", true) ? 2.0f : 1.0f;
  config.linear_num_k_heads = text.integer("linear_num_key_heads", 1, kMaxHeads, config.num_heads);
  config.linear_num_v_heads = text.integer("linear_num_value_heads", 1, kMaxHeads, config.num_heads);
  const double key_dim = 0.75 * config.hidden_size / config.linear_num_k_heads;
  config.linear_k_head_dim =
      text.integer("linear_key_head_dim", 1, kMaxHeadDim, std::clamp(static_cast<int32_t>(key_dim), 1, kMaxHeadDim));
  config.linear_v_head_dim =
      text.integer("linear_value_head_dim", 1, kMaxHeadDim, std::min(2 * config.linear_k_head_dim, kMaxHeadDim));
  config.linear_conv_kernel = text.integer("linear_conv_kernel_dim", 2, kMaxConvKernel, 4);
  text.check(
      config.linear_num_v_heads % config.linear_num_k_heads == 0, "linear_num_value_heads",
      concat(config.linear_num_v_heads, " is not a multiple of linear_num_key_heads ", config.linear_num_k_heads));
}

std::vector<LayerKind> default_olmo_layers(int32_t num_layers) {
  std::vector<LayerKind> layers;
  for (int32_t layer = 0; layer < num_layers; ++layer)
    layers.push_back(layer % 4 == 3 ? LayerKind::full_attention : LayerKind::linear_attention);
  if (num_layers < 4) layers.back() = LayerKind::full_attention;
  return layers;
}

void check_olmo_layers(ConfigFields& text, const ModelConfig& config) {
  const auto num_linear = std::count(config.layers.begin(), config.layers.end(), LayerKind::linear_attention);
  text.check(num_linear > 0 && num_linear < config.num_layers, "layer_types",
             "does not name both linear_attention and full_attention");
}

}  // namespace pagoda::io
