// Chooses device, format and memory of the vision tower.
#include "engine/load/vision.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assign_or_return.h"
#include "device/registry.h"
#include "io/config/preprocessor.h"

namespace pagoda::engine {
namespace {

constexpr const char* kPreprocessorFile = "preprocessor_config.json";
constexpr uint64_t kMaxPreprocessorBytes = 1 << 20;

Status read_preprocessor(const io::ModelFiles& files, io::VisionConfig& vision) {
  std::string text;
  if (files.exists(kPreprocessorFile)) {
    PAGODA_ASSIGN_OR_RETURN(text, files.read_text(kPreprocessorFile, kMaxPreprocessorBytes));
  }
  PAGODA_ASSIGN_OR_RETURN(vision.image_options,
                          io::read_image_options(text, files.description() + "/" + kPreprocessorFile, vision));
  return ok_status();
}

}  // namespace

WeightFormat tower_format(WeightFormat text) noexcept {
  if (text == WeightFormat::q8 || text == WeightFormat::q4) return WeightFormat::q8;
  return is_quantised(text) ? WeightFormat::bf16 : text;
}

void choose_vision(const EngineOptions& options, const io::ModelFiles& files, const io::Checkpoint& checkpoint,
                   io::ModelConfig& config) {
  model::find_vision_tower(checkpoint, config);
  if (!config.vision.is_present()) return;
  const Status preprocessor = read_preprocessor(files, config.vision);
  const char* refusal = !preprocessor.is_ok()               ? preprocessor.message.c_str()
                        : !options.vision                   ? "the option vision is off"
                        : !options.pipeline.empty()         ? "the model runs on several machines"
                        : config.rope.depends_on_position() ? "the rope scaling changes with the position"
                                                            : nullptr;
  if (refusal == nullptr) return;
  io::VisionConfig refused;
  refused.refusal = refusal;
  config.vision = std::move(refused);
}

Result<VisionPlan> plan_vision(const EngineOptions& options, const io::Checkpoint& checkpoint,
                               const io::ModelConfig& config, const device::Device& device, WeightFormat format) {
  VisionPlan plan;
  if (!config.vision.is_present()) return plan;
  plan.format = tower_format(format);
  const bool is_here = device::check_support(device, model::VisionTower::needs(config.vision)).is_ok();
  const std::string same = options.device == "auto" ? device.info().name : options.device;
  PAGODA_ASSIGN_OR_RETURN(plan.device, device::make_device(is_here ? same : "cpu", options.num_threads));
  const int64_t context = options.max_model_len > 0 ? options.max_model_len : config.context_length;
  plan.max_tokens = static_cast<int32_t>(std::min<int64_t>(options.max_image_tokens, context));
  PAGODA_ASSIGN_OR_RETURN(const model::TowerSummary weights,
                          model::TowerWeights::check(config.vision, checkpoint, *plan.device, plan.format));
  plan.num_parameters = weights.num_parameters;
  const int64_t tower_bytes = weights.size_bytes + model::VisionTower::workspace_bytes(config.vision, *plan.device,
                                                                                       plan.format, plan.max_tokens);
  const int64_t for_results = options.image_cache_bytes + weights.host_bytes;
  plan.bytes = {.device = is_here ? tower_bytes : 0, .host = for_results + (is_here ? 0 : tower_bytes)};
  return plan;
}

void describe_vision(const VisionPlan& plan, const io::VisionConfig& config, ModelInfo& info) {
  info.has_vision = config.is_present();
  info.image_token_id = config.image_token_id;
  info.vision_refusal = config.refusal;
  if (!config.is_present()) return;
  info.vision_parameters = plan.num_parameters;
  info.max_image_tokens = plan.max_tokens;
  info.image_options = config.image_options;
  const int64_t side = int64_t{config.patch_size} * config.merge_size;
  info.image_options.max_pixels = std::min(info.image_options.max_pixels, plan.max_tokens * side * side);
  info.image_options.min_pixels = std::min(info.image_options.min_pixels, info.image_options.max_pixels);
  info.vision_device = plan.device->info().description;
}

}  // namespace pagoda::engine
