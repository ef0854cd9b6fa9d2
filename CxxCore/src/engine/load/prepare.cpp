// Configuration, device, formats and memory plan, in the order in which each needs those before it.
#include "engine/load/prepare.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/assign_or_return.h"
#include "base/cache_folder.h"
#include "device/registry.h"
#include "device/support.h"
#include "device/trial/product_choice.h"
#include "engine/load/expert_plan.h"
#include "engine/load/lora.h"
#include "engine/load/text_files.h"
#include "engine/load/weight_facts.h"
#include "io/config/rope.h"
#include "model/adapters/pool.h"
#include "model/weights/tied_head.h"

namespace pagoda::engine {
namespace {

constexpr uint64_t kMaxConfigBytes = 4 << 20;

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
  if (layout.has_state()) info.state_dtype = std::string(dtype_name(layout.state_dtype));
  info.device = p.device->info().description;
  info.device_name = p.device->info().name;
  info.has_tokenizer = p.files->exists("tokenizer.json");
  info.has_chat_template = p.chat_template != nullptr;
  info.skipped_tensors = weights.skipped_tensors;
  info.eos_token_ids = p.config.eos_token_ids;
  info.plan = p.memory;
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

}  // namespace

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
    return make_field_error(StatusCode::unsupported, "speculation",
                            "speculation mtp needs a model with an MTP head, and this one has none");
  PAGODA_ASSIGN_OR_RETURN(p.dtype, model::choose_dtype(options.dtype, p.config, *p.checkpoint));
  PAGODA_ASSIGN_OR_RETURN(p.cache_types.kv, model::choose_kv_dtype(options.kv_dtype, p.dtype));
  PAGODA_ASSIGN_OR_RETURN(p.cache_types.state, model::choose_state_dtype(options.state_dtype));
  const cache::CacheLayout layout = model::cache_layout(p.config, p.cache_types, options.block_size);
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
                                                              .cache_types = p.cache_types,
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

}  // namespace pagoda::engine
