// Reads vision_config and the sections of the interleaved rotation (M-RoPE).
#include "io/config/vision.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/concat.h"
#include "base/quoted.h"
#include "io/config/fields.h"
#include "io/config/limits.h"
#include "io/config/model_config.h"

namespace pagoda::io {
namespace {

// What the configuration classes assume, for Qwen3.5 and for Qwen3-VL.
struct Defaults {
  std::array<int32_t, 3> sections;
  int32_t image_token_id;
  std::vector<int32_t> deep_blocks;
};
Defaults defaults_of(Family family) {
  if (traits_of(family).linear_layers == LinearLayers::gated_delta_net) return {{11, 11, 10}, 248056, {}};
  return {{24, 20, 20}, 151655, {8, 16, 24}};
}

constexpr int32_t kMaxPatchSize = 64, kMaxMergeSize = 8, kMaxFrames = 16, kMaxPositions = 1 << 20;

void read_sizes(ConfigFields& fields, const ModelConfig& config, VisionConfig& vision) {
  vision.depth = fields.integer("depth", 1, kMaxLayers, 27);
  vision.hidden_size = fields.integer("hidden_size", 4, kMaxHiddenSize, 1152);
  vision.intermediate_size = fields.integer("intermediate_size", 1, kMaxIntermediateSize, 4304);
  vision.num_heads = fields.integer("num_heads", 1, kMaxHeads, 16);
  vision.out_hidden_size = fields.integer("out_hidden_size", 1, kMaxHiddenSize, 3584);
  vision.patch_size = fields.integer("patch_size", 1, kMaxPatchSize, 16);
  vision.merge_size = fields.integer("spatial_merge_size", 1, kMaxMergeSize, 2);
  vision.temporal_patch_size = fields.integer("temporal_patch_size", 1, kMaxFrames, 2);
  const int32_t positions = fields.integer("num_position_embeddings", 1, kMaxPositions, 2304);
  vision.position_side = static_cast<int32_t>(std::lround(std::floor(std::sqrt(positions))));
  fields.check(vision.position_side * vision.position_side == positions, "num_position_embeddings",
               concat(positions, " is not the square of a side"));
  fields.check(vision.hidden_size % (4 * vision.num_heads) == 0 && vision.head_dim() <= kMaxHeadDim, "num_heads",
               concat(vision.num_heads, " does not divide hidden_size ", vision.hidden_size,
                      " into heads of a multiple of 4, at most ", kMaxHeadDim));
  fields.check(vision.out_hidden_size == config.hidden_size, "out_hidden_size",
               concat(vision.out_hidden_size, " differs from the text model's hidden_size ", config.hidden_size));
  fields.check(fields.integer("in_channels", 1, 16, 3) == 3, "in_channels", "is not 3");
}

void read_traits(ConfigFields& fields, VisionConfig& vision) {
  const std::string activation = fields.string("hidden_act", "gelu_pytorch_tanh");
  fields.check(activation == "gelu_pytorch_tanh", "hidden_act", quoted(activation) + " is not gelu_pytorch_tanh");
  const std::string projector = fields.string("projector_type", "qwen3vl_merger");  // of GGUF
  fields.check(projector == "qwen3vl_merger", "projector_type", quoted(projector) + " is not qwen3vl_merger");
  const Json* rope = fields.find("rope_parameters");
  if (rope == nullptr || !rope->is_object()) return;
  ConfigFields parameters(*rope, fields.where() + ": rope_parameters");
  vision.rope_theta = parameters.number("rope_theta", 1.0, 1e15, 10000.0);
  const std::string type = parameters.string("rope_type", "axial");
  parameters.check(type == "axial" || type == "default", "rope_type", quoted(type) + " is not axial");
  fields.adopt(parameters.status());
}

// Each feature is added after one layer of the text, the first after layer 0.
void read_deep_blocks(ConfigFields& fields, const ModelConfig& config, VisionConfig& vision) {
  const Json* blocks = fields.find("deepstack_visual_indexes");
  if (blocks == nullptr) {
    vision.deep_blocks = defaults_of(config.family).deep_blocks;
  } else {
    fields.check(blocks->is_array(), "deepstack_visual_indexes", "is not a list of blocks");
    for (const Json& block : blocks->items())
      vision.deep_blocks.push_back(block.is_integer() && block.as_integer() >= 0 && block.as_integer() < kMaxLayers
                                       ? static_cast<int32_t>(block.as_integer())
                                       : -1);
  }
  const bool is_ordered =
      std::ranges::is_sorted(vision.deep_blocks, std::less_equal{}) &&
      (vision.deep_blocks.empty() || (vision.deep_blocks.front() >= 0 && vision.deep_blocks.back() < vision.depth));
  fields.check(is_ordered && vision.deep_blocks.size() <= static_cast<size_t>(config.num_layers),
               "deepstack_visual_indexes", "is not an increasing list of blocks, at most one for each text layer");
}

// Frequency j of the text belongs to height if j % 3 == 1 and j < 3 sections[1], to width if j % 3 == 2 and
// j < 3 sections[2], else to time.
void read_sections(ConfigFields& fields, const ConfigFields& text, const ModelConfig& config, VisionConfig& vision) {
  vision.sections = defaults_of(config.family).sections;
  fields.check(!config.rope.depends_on_position(), "rope_scaling", "changes with the position: not supported");
  const Json* rope = text.find("rope_parameters");
  if (rope == nullptr) rope = text.find("rope_scaling");
  if (rope == nullptr || !rope->is_object()) return;
  ConfigFields parameters(*rope, text.where() + ": rope_parameters");
  parameters.check(parameters.boolean("mrope_interleaved", true), "mrope_interleaved", "false is not supported");
  if (const Json* sections = parameters.find("mrope_section"); sections != nullptr) {
    const bool is_list = sections->is_array() && sections->items().size() == vision.sections.size();
    parameters.check(is_list, "mrope_section", "is not a list of 3 integers");
    for (size_t i = 0; is_list && i < vision.sections.size(); ++i) {
      const Json& section = sections->items()[i];
      const bool is_valid = section.is_integer() && section.as_integer() >= 0 && section.as_integer() <= kMaxHeadDim;
      parameters.check(is_valid, "mrope_section", "has an entry that is not the size of a section");
      vision.sections[i] = is_valid ? static_cast<int32_t>(section.as_integer()) : 0;
    }
  }
  fields.adopt(parameters.status());
}

}  // namespace

VisionConfig read_vision_config(const ConfigFields& root, const ConfigFields& text, const ModelConfig& config) {
  VisionConfig vision;
  const Json* json = root.find("vision_config");
  if (json == nullptr) {
    vision.refusal = config.architecture + " has no vision tower";
    return vision;
  }
  if (!config.traits().has_vision_tower || !json->is_object()) {
    vision.refusal = "the vision tower of " + config.architecture + " is not supported";
    return vision;
  }
  ConfigFields fields(*json, root.where() + ": vision_config");
  read_sizes(fields, config, vision);
  read_traits(fields, vision);
  read_deep_blocks(fields, config, vision);
  read_sections(fields, text, config, vision);
  const Json* id = root.find("image_token_id");
  const int64_t image_id =
      id == nullptr ? defaults_of(config.family).image_token_id : (id->is_integer() ? id->as_integer() : -1);
  fields.check(image_id >= 0 && image_id < config.vocab_size, "image_token_id", "is not an id of the vocabulary");
  if (fields.is_ok()) {
    vision.image_token_id = static_cast<int32_t>(image_id);
    return vision;
  }
  VisionConfig refused;
  refused.refusal = "the vision tower is not supported: " + fields.status().message;
  return refused;
}

}  // namespace pagoda::io
