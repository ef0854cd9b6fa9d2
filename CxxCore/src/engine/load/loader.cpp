// Loader: reads the small files, plans the memory, then creates the model.
#include "engine/load/loader.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/assign_or_return.h"
#include "base/cache_folder.h"
#include "base/concat.h"
#include "base/json.h"
#include "base/threads/usable_cores.h"
#include "device/product_choice.h"
#include "device/registry.h"
#include "device/support.h"
#include "engine/load/expert_plan.h"
#include "engine/load/fingerprint.h"
#include "engine/load/lora.h"
#include "engine/load/memory_plan.h"
#include "engine/load/pipeline_plan.h"
#include "engine/load/vision.h"
#include "engine/load/weight_facts.h"
#include "io/config/rope.h"
#include "model/adapters/pool.h"
#include "model/weights/tied_head.h"

namespace pagoda::engine {
namespace {

constexpr int32_t kMaxSampleThreads = 8;  // each has 2 MB for a vocabulary of 248,000
constexpr uint64_t kMaxConfigBytes = 4 << 20;
constexpr uint64_t kMaxTokenizerBytes = 64 << 20;
constexpr uint64_t kMaxTemplateBytes = 1 << 20;

// Everything that is determined before any weight is read.
struct Prepared {
  std::unique_ptr<io::ModelFiles> files;
  io::ModelConfig config;
  std::unique_ptr<io::Checkpoint> checkpoint;
  std::unique_ptr<device::Device> device;
  DType dtype = DType::f32, kv_dtype = DType::f32;
  WeightFormat format = WeightFormat::f32;
  MemoryPlan memory;
  ModelInfo info;
  std::string generation_config_json;
  std::shared_ptr<const text::JinjaTemplate> chat_template;
  std::string config_json;
  std::optional<PipelinePlan> pipeline;  // for a model on several machines
  VisionPlan vision;
};

Status read_configuration(Prepared& p, const std::string& rope_scaling) {
  PAGODA_ASSIGN_OR_RETURN(std::string text, p.files->read_text("config.json", kMaxConfigBytes));
  PAGODA_ASSIGN_OR_RETURN(p.config, io::parse_model_config(text, p.files->description() + "/config.json"));
  p.config_json = std::move(text);
  if (!rope_scaling.empty()) PAGODA_RETURN_IF_ERROR(io::set_rope_scaling(rope_scaling, p.config));
  if (!p.files->exists("generation_config.json")) return ok_status();
  PAGODA_ASSIGN_OR_RETURN(p.generation_config_json, p.files->read_text("generation_config.json", kMaxConfigBytes));
  PAGODA_ASSIGN_OR_RETURN(
      const std::vector<int32_t> eos,
      io::parse_eos_token_ids(p.generation_config_json, p.files->description() + "/generation_config.json",
                              p.config.vocab_size));
  for (int32_t id : eos) {
    if (std::ranges::find(p.config.eos_token_ids, id) == p.config.eos_token_ids.end())
      p.config.eos_token_ids.push_back(id);
  }
  return ok_status();
}

void describe(Prepared& p, const model::WeightsSummary& weights, const cache::CacheLayout& layout) {
  ModelInfo& info = p.info;
  info.architecture = p.config.architecture;
  info.family = p.config.traits().name;
  info.num_layers = p.config.num_layers;
  info.num_attention_layers = layout.num_attention_layers;
  info.num_recurrent_layers = layout.num_recurrent_layers;
  info.hidden_size = p.config.hidden_size;
  info.vocab_size = p.config.vocab_size;
  info.context_length = p.config.context_length;
  info.num_parameters = weights.num_parameters;
  info.layer_matrices = weights.layer_matrices;
  info.head_matrix = weights.head_matrix;
  info.formats = weights.formats;
  info.weight_dtype =
      p.format == WeightFormat::stored ? formats_text(weights.formats) : std::string(weight_format_name(p.format));
  info.kv_dtype = std::string(dtype_name(layout.kv_dtype));
  info.device = p.device->info().description;
  info.device_name = p.device->info().name;
  info.has_tokenizer = p.files->exists("tokenizer.json");
  info.has_chat_template = p.chat_template != nullptr;
  info.skipped_tensors = weights.skipped_tensors;
  info.eos_token_ids = p.config.eos_token_ids;
  info.plan = p.memory;
}

int32_t window_of_all_layers(const io::ModelConfig& config) {
  const auto slides = [](io::LayerKind kind) { return kind == io::LayerKind::sliding_attention; };
  return !config.runs_mtp_head && std::ranges::all_of(config.layers, slides) ? config.sliding_window : 0;
}

device::KernelNeeds kernel_needs(const cache::CacheLayout& layout) {
  const bool has_heads = layout.num_attention_layers > 0;
  return {.block_size = layout.block_size,
          .head_dim = has_heads && !layout.has_latents ? layout.head_dim : 0,
          .k_dim = layout.num_recurrent_layers > 0 ? layout.k_head_dim : 0,
          .latent_dim = layout.has_latents ? layout.head_dim : 0,
          .latent_value_dim = layout.value_dim,
          .has_streams = layout.index_dim > 0};
}

Status check_kernels(const device::KernelNeeds& needs, const device::Device& device) {
  Status status = device::check_support(device, needs);
  if (!status.is_ok()) status.message = "the device " + device.info().name + " cannot run this: " + status.message;
  return status;
}

// Only if the whole model is on this machine: other machines may have different matrix units.
void choose_products(const EngineOptions& options, const model::WeightsSummary& weights, bool may_try, Prepared& p) {
  if (!options.pipeline.empty()) return;
  device::choose_products(*p.device, weights.products,
                          {.verdict_folder = user_cache_folder("products"),
                           .may_try = may_try,
                           .make_trusted = [&options] { return device::make_device("cpu", options.num_threads); },
                           .trial = {}});
}

Result<Prepared> prepare(const ModelSource& source, const EngineOptions& options, bool may_try_products) {
  PAGODA_RETURN_IF_ERROR(check_options(options));
  Prepared p;
  ModelSource files = source;
  if (!options.vision_file.empty()) files.vision_file = options.vision_file;
  PAGODA_ASSIGN_OR_RETURN(p.files, io::open_model_files(files));
  PAGODA_RETURN_IF_ERROR(read_configuration(p, options.rope_scaling));
  Result<std::shared_ptr<const text::JinjaTemplate>> chat_template = load_template_file(*p.files);
  if (chat_template.is_ok()) p.chat_template = std::move(*chat_template);
  else p.info.chat_template_error = chat_template.status.message;  // text and token ids still work
  PAGODA_ASSIGN_OR_RETURN(io::Checkpoint checkpoint, io::Checkpoint::open(*p.files));
  p.checkpoint = std::make_unique<io::Checkpoint>(std::move(checkpoint));
  model::find_bare_decoder(*p.checkpoint, p.config);
  PAGODA_RETURN_IF_ERROR(model::untie_different_head(*p.checkpoint, p.config));
  choose_vision(options, *p.files, *p.checkpoint, p.config);
  if (options.pipeline.empty())
    model::find_mtp_head(p.config, *p.checkpoint, options.speculation == "auto" || options.speculation == "mtp");
  if (options.speculation == "mtp" && !p.config.runs_mtp_head)
    return make_error(StatusCode::unsupported, "speculation mtp needs a model with an MTP head, and this one has none");
  PAGODA_ASSIGN_OR_RETURN(p.dtype, model::choose_dtype(options.dtype, p.config, *p.checkpoint));
  PAGODA_ASSIGN_OR_RETURN(p.kv_dtype, model::choose_kv_dtype(options.kv_dtype, p.dtype));
  const cache::CacheLayout layout = model::cache_layout(p.config, p.kv_dtype, options.block_size);
  const device::KernelNeeds needs = kernel_needs(layout);
  PAGODA_ASSIGN_OR_RETURN(p.device, device::make_device(options.device, options.num_threads, needs));
  PAGODA_RETURN_IF_ERROR(check_kernels(needs, *p.device));

  PAGODA_ASSIGN_OR_RETURN(p.format, model::choose_format(options.quantize, p.dtype, *p.checkpoint));
  PAGODA_ASSIGN_OR_RETURN(model::WeightsSummary weights,
                          model::check_weights(p.config, *p.checkpoint, *p.device, p.format));
  PAGODA_ASSIGN_OR_RETURN(p.vision, plan_vision(options, *p.checkpoint, p.config, *p.device, p.format));
  if (options.pipeline.empty()) {
    int64_t for_adapters = 0, for_table = 0;
    if (!options.loras.empty() || options.lora_bytes > 0) {
      PAGODA_ASSIGN_OR_RETURN(const model::AdapterLayout adapters, model::adapter_layout(p.config, *p.checkpoint));
      PAGODA_ASSIGN_OR_RETURN(for_adapters, adapter_bytes(options, adapters));
      for_table = model::AdapterPool::table_bytes(adapters);
    }
    const auto plan_rest = [&](int64_t bytes) {
      return plan_memory(options, p.config, layout, *p.device, bytes, 0, p.vision.bytes, for_adapters, for_table);
    };
    PAGODA_ASSIGN_OR_RETURN(p.memory, plan_experts(options, weights, *p.device, plan_rest));
  } else {
    PAGODA_ASSIGN_OR_RETURN(PipelinePlan plan, plan_pipeline({.options = options,
                                                              .config = p.config,
                                                              .config_json = p.config_json,
                                                              .checkpoint = *p.checkpoint,
                                                              .device = *p.device,
                                                              .device_name = p.device->info().name,
                                                              .name = p.files->description(),
                                                              .format = p.format,
                                                              .kv_dtype = p.kv_dtype,
                                                              .weights = weights}));
    p.memory = plan.memory;
    p.info.pipeline = plan.text;
    p.pipeline = std::move(plan);
  }
  choose_products(options, weights, may_try_products, p);
  describe(p, weights, layout);
  PAGODA_ASSIGN_OR_RETURN(p.info.other_weights, other_weights(p.config, *p.checkpoint, *p.device, p.dtype, p.format));
  describe_vision(p.vision, p.config.vision, p.info);
  return p;
}

// `chat_template` is a string, or a list of {name, template} of which the one named default is used.
const io::Json* find_default_template(const io::Json& tokenizer_config) {
  const io::Json* found = tokenizer_config.find("chat_template");
  if (!found || found->is_string()) return found;
  if (!found->is_array()) return nullptr;
  for (const io::Json& entry : found->items()) {
    const io::Json* name = entry.find("name");
    const io::Json* source = entry.find("template");
    if (name && name->is_string() && name->as_string() == "default" && source && source->is_string()) return source;
  }
  return nullptr;
}

// bos_token and similar names that templates may use: a string, or an object with `content`.
text::JinjaTemplate::Constants special_tokens(const io::Json& tokenizer_config) {
  text::JinjaTemplate::Constants constants;
  for (const char* name : {"bos_token", "eos_token", "pad_token", "unk_token"}) {
    const io::Json* token = tokenizer_config.find(name);
    if (token && token->is_object()) token = token->find("content");
    if (token && token->is_string()) constants[name] = token->as_string();
  }
  return constants;
}

}  // namespace

Result<std::shared_ptr<const text::SubwordTokenizer>> load_tokenizer_file(const io::ModelFiles& files) {
  if (!files.exists("tokenizer.json")) return std::shared_ptr<const text::SubwordTokenizer>();
  PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text("tokenizer.json", kMaxTokenizerBytes));
  return text::SubwordTokenizer::from_json(text, files.description() + "/tokenizer.json");
}

// chat_template.jinja takes precedence; older folders keep the template as a string in tokenizer_config.json.
Result<std::shared_ptr<const text::JinjaTemplate>> load_template_file(const io::ModelFiles& files) {
  io::Json tokenizer_config;
  const std::string config_name = files.description() + "/tokenizer_config.json";
  if (files.exists("tokenizer_config.json")) {
    PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text("tokenizer_config.json", kMaxConfigBytes));
    Result<io::Json> json = io::parse_json(text);
    if (!json.is_ok()) return make_error(json.status.code, config_name + ": " + json.status.message);
    tokenizer_config = std::move(*json);
  }
  if (files.exists("chat_template.jinja")) {
    PAGODA_ASSIGN_OR_RETURN(std::string source, files.read_text("chat_template.jinja", kMaxTemplateBytes));
    return text::JinjaTemplate::parse(source, files.description() + "/chat_template.jinja",
                                      special_tokens(tokenizer_config));
  }
  const io::Json* source = find_default_template(tokenizer_config);
  if (!source) return std::shared_ptr<const text::JinjaTemplate>();
  return text::JinjaTemplate::parse(source->as_string(), config_name, special_tokens(tokenizer_config));
}

static Status load_adapters(const EngineOptions& options, model::Model& model, Adapters& adapters) {
  for (const LoraSource& source : options.loras)
    PAGODA_RETURN_IF_ERROR(
        load_adapter(source, *model.adapter_layout(), adapters, [&](const Adapter& adapter, const auto& image) {
          return model.place_adapter(adapter.slot, adapter.begin, image);
        }));
  return ok_status();
}

static Status open_stores(const EngineOptions& options, Prepared& p, model::Model& model, CoreConfig& core) {
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
static void open_policy_file(const EngineOptions& options, const Prepared& p, LoadedModel& loaded) {
  if (loaded.core.max_drafts == 0) return;
  const Result<std::string> files = files_identity(*p.checkpoint, /*whole_content=*/false);
  if (!files.is_ok()) return;
  const int threads = options.num_threads > 0 ? options.num_threads : usable_cores();
  loaded.policy_file =
      PolicyFile(user_cache_folder("drafts"),
                 concat(*files, ", ", p.device->info().name, ", ", p.device->info().description, ", ",
                        p.device->weight_layout(p.format), ", ", threads, " threads, ", p.info.weight_dtype, ", KV ",
                        p.info.kv_dtype, ", ", loaded.core.max_drafts, " drafts, head ", loaded.core.uses_head,
                        ", lookup ", loaded.core.uses_lookup));
}

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
      model::load_model(p.pipeline ? p.pipeline->first : p.config, *p.checkpoint, *p.device, p.format, p.kv_dtype,
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

  loaded.core.limits = p.memory.limits;
  loaded.core.vocab_size = p.config.vocab_size;
  loaded.core.hidden_size = p.config.hidden_size;
  loaded.core.limits.attention_window = window_of_all_layers(p.config);
  loaded.core.prefix_cache = options.prefix_cache;
  loaded.core.no_images = p.config.vision.refusal;
  if (p.vision.device) {
    PAGODA_ASSIGN_OR_RETURN(loaded.core.tower,
                            model::VisionTower::load(p.config.vision, *p.checkpoint, std::move(p.vision.device),
                                                     p.vision.format, p.vision.max_tokens));
    loaded.core.image_cache_bytes = options.image_cache_bytes;
  }
  loaded.core.step_times = {.max_seconds = p.device->info().max_step_seconds,
                            .max_decode_seconds = options.max_step_ms / 1000};
  loaded.core.state_slot_bytes = p.memory.state_slot_bytes;
  loaded.core.eos_token_ids = p.config.eos_token_ids;
  loaded.core.tokenizer = tokenizer;
  loaded.core.num_sample_threads =
      std::min(options.num_threads > 0 ? options.num_threads : usable_cores(), kMaxSampleThreads);
  loaded.core.has_mask_thread = options.pipeline.empty();
  const cache::CacheLayout layout = model::cache_layout(p.config, p.kv_dtype, options.block_size);
  loaded.core.max_drafts = options.pipeline.empty() ? max_drafts(options, layout) : 0;
  if (!options.pipeline.empty()) loaded.core.limits.max_draft_rows = 0;
  loaded.core.uses_lookup = options.speculation == "auto" || options.speculation == "lookup";
  loaded.core.uses_head = p.config.runs_mtp_head;
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
