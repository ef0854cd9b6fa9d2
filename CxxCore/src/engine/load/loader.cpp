// Loader: creates the model that was prepared, and what the core needs beside it.
#include "engine/load/loader.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/assign_or_return.h"
#include "base/cache_folder.h"
#include "base/concat.h"
#include "base/threads/usable_cores.h"
#include "engine/load/fingerprint.h"
#include "engine/load/lora.h"
#include "engine/load/prepare.h"
#include "engine/load/text_files.h"
#include "engine/load/weight_facts.h"

namespace pagoda::engine {
namespace {

constexpr int32_t kMaxSampleThreads = 8;  // each has 2 MB for a vocabulary of 248,000

int32_t window_of_all_layers(const io::ModelConfig& config) {
  const auto slides = [](io::LayerKind kind) { return kind == io::LayerKind::sliding_attention; };
  return !config.runs_mtp_head && std::ranges::all_of(config.layers, slides) ? config.sliding_window : 0;
}

Status load_adapters(const EngineOptions& options, model::Model& model, Adapters& adapters) {
  for (const LoraSource& source : options.loras)
    PAGODA_RETURN_IF_ERROR(
        load_adapter(source, *model.adapter_layout(), adapters, [&](const Adapter& adapter, const auto& image) {
          return model.place_adapter(adapter.slot, adapter.begin, image);
        }));
  return ok_status();
}

Status open_stores(const EngineOptions& options, Prepared& p, model::Model& model, CoreConfig& core) {
  constexpr int64_t kDefaultBytes = int64_t{8} << 30;
  constexpr int64_t kImageShare = 8;  // one part of so many is for results of the vision tower
  const bool has_disk = !options.prefix_cache_dir.empty() && options.prefix_cache;
  PrefixLayout layout{.fingerprint = {},
                      .block_size = options.block_size,
                      .block_bytes = static_cast<uint64_t>(p.memory.kv_block_bytes),
                      .state_bytes = static_cast<uint64_t>(p.memory.state_slot_bytes)};
  if (has_disk || options.identify) {
    PAGODA_ASSIGN_OR_RETURN(std::string numbers, fingerprint(p.config, p.memory, core, model));
    if (options.identify) p.info.fingerprint = numbers;
    layout.fingerprint = std::move(numbers);
  }
  if (has_disk) {
    PAGODA_ASSIGN_OR_RETURN(const std::string identity, files_identity(*p.checkpoint, options.identify_content));
    layout.fingerprint = identity + ", " + layout.fingerprint;
    if (core.tower)
      layout.fingerprint += concat(", vision in ", weight_format_name(p.vision.format), " on ", p.info.vision_device);
    int64_t max_bytes = options.prefix_cache_disk_bytes > 0 ? options.prefix_cache_disk_bytes : kDefaultBytes;
    if (core.tower) {
      const int64_t for_images = max_bytes / kImageShare;
      max_bytes -= for_images;
      core.image_files = std::make_shared<ImageFiles>(options.prefix_cache_dir, for_images, layout.fingerprint);
    }
    core.disk = std::make_shared<DiskStore>(DiskStoreConfig{.folder = options.prefix_cache_dir,
                                                            .max_bytes = max_bytes,
                                                            .fingerprint = layout.fingerprint,
                                                            .block_size = layout.block_size,
                                                            .block_bytes = layout.block_bytes,
                                                            .state_bytes = layout.state_bytes});
  }
  if (p.memory.host_cache_bytes > 0)
    core.host = std::make_shared<HostStore>(std::move(layout), p.memory.host_cache_bytes);
  return ok_status();
}

// Two files of weights with the same shapes differ in how often drafts of their answers hold. Nothing is kept for files
// that cannot be identified.
void open_policy_file(const EngineOptions& options, const Prepared& p, LoadedModel& loaded) {
  if (loaded.core.max_drafts == 0) return;
  const Result<std::string> files = files_identity(*p.checkpoint, /*whole_content=*/false);
  if (!files.is_ok()) return;
  const int threads = options.num_threads > 0 ? options.num_threads : usable_cores();
  loaded.policy_file =
      PolicyFile(user_cache_folder("drafts"),
                 concat(*files, ", ", p.device->info().name, ", ", p.device->info().description, ", ",
                        p.device->weight_layout(p.format), ", ", threads, " threads, ", p.info.weight_dtype, ", KV ",
                        p.info.kv_dtype, ", states ", p.info.state_dtype, ", ", loaded.core.max_drafts,
                        " drafts, head ", loaded.core.uses_head, ", lookup ", loaded.core.uses_lookup));
}

void configure(const EngineOptions& options, const Prepared& p, CoreConfig& core) {
  core.limits = p.memory.limits;
  core.vocab_size = p.config.vocab_size;
  core.hidden_size = p.config.hidden_size;
  core.limits.attention_window = window_of_all_layers(p.config);
  core.prefix_cache = options.prefix_cache;
  core.no_images = p.config.vision.refusal;
  core.step_times = {.max_seconds = p.device->info().max_step_seconds,
                     .max_decode_seconds = options.max_step_ms / 1000};
  core.state_slot_bytes = p.memory.state_slot_bytes;
  core.eos_token_ids = p.config.eos_token_ids;
  core.num_sample_threads = std::min(options.num_threads > 0 ? options.num_threads : usable_cores(), kMaxSampleThreads);
  core.has_mask_thread = options.pipeline.empty();
  core.max_drafts = options.pipeline.empty()
                        ? max_drafts(options, model::cache_layout(p.config, p.cache_types, options.block_size))
                        : 0;
  if (!options.pipeline.empty()) core.limits.max_draft_rows = 0;
  core.uses_lookup = options.speculation == "auto" || options.speculation == "lookup";
  core.uses_head = p.config.runs_mtp_head;
}

}  // namespace

Result<ModelInfo> inspect(const ModelSource& source, const EngineOptions& options) {
  PAGODA_ASSIGN_OR_RETURN(Prepared p, prepare(source, options, false));
  PAGODA_ASSIGN_OR_RETURN(p.info.weight_cache_note,
                          model::weight_cache_note(p.pipeline ? p.pipeline->first : p.config, *p.checkpoint, *p.device,
                                                   p.format, weight_cache_of(source, options)));
  return std::move(p.info);
}

Result<LoadedModel> load(const ModelSource& source, const EngineOptions& options, const model::LoadProgress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  PAGODA_ASSIGN_OR_RETURN(Prepared prepared, prepare(source, options, true));
  Prepared& p = prepared;
  LoadedModel loaded;
  PAGODA_ASSIGN_OR_RETURN(std::shared_ptr<const text::SubwordTokenizer> tokenizer, load_tokenizer_file(*p.files));
  model::WeightCache cache = weight_cache_of(source, options);
  std::optional<pipeline::PipelineLoad> stages;  // the other stages load their layers at the same time
  if (p.pipeline) stages.emplace(std::move(p.pipeline->parts), std::move(p.pipeline->connections));
  PAGODA_ASSIGN_OR_RETURN(
      std::unique_ptr<model::Model> model,
      model::load_model(p.pipeline ? p.pipeline->first : p.config, *p.checkpoint, *p.device, p.format, p.cache_types,
                        options.block_size, progress, &cache, p.memory.expert_memory_bytes));
  p.info.weight_cache_note = std::move(cache.note);
  PAGODA_RETURN_IF_ERROR(model->allocate(p.memory.limits));
  if (stages) {
    PAGODA_ASSIGN_OR_RETURN(model, stages->finish(std::move(model), p.memory.limits));
  }

  if (p.memory.limits.adapter_bytes > 0) {
    loaded.core.adapters = std::make_shared<Adapters>(p.memory.limits.adapter_bytes);
    PAGODA_RETURN_IF_ERROR(load_adapters(options, *model, *loaded.core.adapters));
  }

  configure(options, p, loaded.core);
  loaded.core.tokenizer = tokenizer;
  if (p.vision.device) {
    PAGODA_ASSIGN_OR_RETURN(loaded.core.tower,
                            model::VisionTower::load(p.config.vision, *p.checkpoint, std::move(p.vision.device),
                                                     p.vision.format, p.vision.max_tokens));
    loaded.core.image_cache_bytes = options.image_cache_bytes;
  }
  loaded.layout = layout_text(p.config, p.memory, loaded.core);
  PAGODA_RETURN_IF_ERROR(open_stores(options, p, *model, loaded.core));
  open_policy_file(options, p, loaded);
  loaded.core.device = p.device.get();
  loaded.device = std::move(p.device);
  loaded.model = std::move(model);
  loaded.tokenizer = std::move(tokenizer);
  loaded.chat_template = std::move(p.chat_template);
  loaded.info = std::move(p.info);
  loaded.info.loaded_bytes = loaded.info.plan.weights_bytes;
  loaded.info.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  loaded.generation_config_json = std::move(p.generation_config_json);
  return loaded;
}

}  // namespace pagoda::engine
