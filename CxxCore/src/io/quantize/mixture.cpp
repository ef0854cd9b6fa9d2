// Follows the choice of llama.cpp's Q4_K_M and of mlx-lm's mixed recipes, with tied embeddings and recurrent layers.
#include "io/quantize/mixture.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace pagoda::io {
namespace {

// -1 for a tensor of no layer.
int64_t layer_of(std::string_view tensor) noexcept {
  constexpr std::string_view kLayers = "layers.";
  const size_t at = tensor.find(kLayers);
  if (at == tensor.npos) return -1;
  int64_t layer = -1;
  const std::string_view rest = tensor.substr(at + kLayers.size());
  std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  return layer;
}

bool ends_with_any(std::string_view tensor, std::span<const std::string_view> ends) noexcept {
  return std::ranges::any_of(ends, [&](std::string_view end) { return tensor.ends_with(end); });
}

}  // namespace

bool is_sensitive(std::string_view tensor, int64_t num_layers) noexcept {
  constexpr std::array<std::string_view, 2> kEnds = {"embed_tokens.weight", "lm_head.weight"};
  constexpr std::array<std::string_view, 3> kInLayers = {".v_proj.weight", ".down_proj.weight",
                                                         ".linear_attn.out_proj.weight"};
  const int64_t layer = layer_of(tensor);
  if (layer < 0) return ends_with_any(tensor, kEnds);
  const int64_t eighth = std::max<int64_t>(num_layers / 8, 1);
  const bool is_outer = layer < eighth || layer >= num_layers - eighth;
  return (is_outer || (layer - eighth) % 3 == 2) && ends_with_any(tensor, kInLayers);
}

int64_t num_layers_in(const Json& config) noexcept {
  const Json* text = config.find("text_config");
  const Json* count = (text != nullptr ? *text : config).find("num_hidden_layers");
  return count != nullptr ? std::max<int64_t>(count->as_integer(), 0) : 0;
}

}  // namespace pagoda::io
