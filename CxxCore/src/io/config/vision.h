// VisionConfig: the vision tower of a model and the rotation of image tokens, from config.json.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "pagoda/image.h"

namespace pagoda::io {

class ConfigFields;
struct ModelConfig;

struct VisionConfig {
  int32_t depth = 0;  // blocks; 0: the model has no tower that can run
  int32_t hidden_size = 0, intermediate_size = 0, num_heads = 0;
  int32_t out_hidden_size = 0;        // width of a token, which is the text model's hidden_size
  int32_t position_side = 0;          // the learned positions are a square grid with this side
  int32_t patch_size = 16;            // pixels per side
  int32_t merge_size = 2;             // patches per side of the block that becomes one token
  int32_t temporal_patch_size = 2;    // frames
  double rope_theta = 10000.0;        // of the tower
  int32_t image_token_id = -1;        // the placeholder in a prompt
  std::array<int32_t, 3> sections{};  // of the text model's rotation: frequencies of time, height and width
  ImageOptions image_options{};       // from preprocessor_config.json
  std::vector<int32_t> deep_blocks;   // DeepStack: blocks after which rows for the first text layers are made
  std::string tensor_prefix;          // before "patch_embed.proj.weight"
  std::string refusal;                // why the model takes no images, if it does not

  bool is_present() const noexcept { return depth > 0; }
  int32_t head_dim() const noexcept { return hidden_size / num_heads; }
  int32_t patch_dim() const noexcept { return 3 * temporal_patch_size * patch_size * patch_size; }
  int32_t merged_patches() const noexcept { return merge_size * merge_size; }
  int32_t merged_size() const noexcept { return hidden_size * merged_patches(); }
  // Numbers per token of an image: its embedding, then what is added to it after text layers 0, 1, ...
  int32_t row_size() const noexcept { return out_hidden_size * (1 + static_cast<int32_t>(deep_blocks.size())); }
};

// Reads vision_config, if there is one. A tower that is not supported leaves the text usable: the result has depth 0
// and a refusal.
VisionConfig read_vision_config(const ConfigFields& root, const ConfigFields& text, const ModelConfig& config);

}  // namespace pagoda::io
