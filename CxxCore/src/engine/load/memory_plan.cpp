// Memory plan: weights, then state slots, then workspace, and KV blocks from the options or the remaining memory.
#include "engine/load/memory_plan.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "base/size_text.h"
#include "device/host/host_memory.h"
#include "speculate/policy.h"

namespace pagoda::engine {
namespace {

constexpr int64_t kScreenTokens = 32768;  // a 4B model's context of 262,144 would take 18 GB of a Mac's memory
constexpr int64_t kManySequences = 256;
constexpr int64_t kTokensPerSequence = 4096;  // for which half of a card's memory must suffice
constexpr int64_t kMinDefaultCheckpoints = 32;
constexpr int64_t kCheckpointsPerSequence = 16;  // waiting agents resume each from one of its own
constexpr int64_t kMaxCheckpoints = 1 << 20;
constexpr int64_t kDefaultCheckpointShare = 8;  // at most an eighth of the memory left after weights and state
constexpr int32_t kMaxDraftRows = 48;           // per step: bounds the memory of their logits
constexpr int32_t kSavesBesideSequences = 4;    // a step may save one state per sequence and this many more

int64_t vision_on_device(const MemoryPlan& p) noexcept { return p.vision_bytes - p.vision_host_bytes; }

std::string plan_text(const MemoryPlan& p) {
  return concat("weights ", size_text(p.weights_bytes), ", KV cache ", size_text(p.kv_bytes), " (",
                p.limits.num_kv_blocks, " blocks of ", p.limits.block_size, " tokens), recurrent state ",
                size_text(p.state_bytes), " (", p.limits.num_running_slots(), " slots), checkpoints ",
                size_text(p.checkpoint_bytes), " (", p.limits.num_checkpoints, "), workspace ",
                size_text(p.workspace_bytes),
                p.host_cache_bytes > 0 && !p.has_own_memory ? ", host cache " + size_text(p.host_cache_bytes) : "",
                vision_on_device(p) > 0 ? ", vision tower " + size_text(vision_on_device(p)) : "",
                p.adapter_bytes > 0 ? ", LoRA adapters " + size_text(p.adapter_bytes) : "");
}

Status check_range(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return ok_status();
  return make_field_error(StatusCode::invalid_argument, name,
                          concat(name, " must be ", low, " to ", high, ", not ", value));
}

// Blocks for the tokens that are cached by default, within the share of the remaining memory.
int64_t default_num_blocks(const MemoryPlan& p, double share, int64_t wanted_tokens) {
  const int64_t wanted_blocks = (wanted_tokens + p.limits.block_size - 1) / p.limits.block_size;
  const int64_t host_bytes = p.has_own_memory ? 0 : p.host_cache_bytes;
  const int64_t left = p.device_limit_bytes - p.weights_bytes - p.adapter_bytes - p.state_bytes - p.checkpoint_bytes -
                       vision_on_device(p) - host_bytes;
  const int64_t affordable = static_cast<int64_t>(share * static_cast<double>(left)) / p.kv_block_bytes;
  return std::clamp<int64_t>(affordable, 1, wanted_blocks);
}

bool has_default_cache(const EngineOptions& options) {
  return options.num_kv_blocks == 0 && options.kv_cache_bytes == 0;
}

int64_t choose_num_blocks(const EngineOptions& options, const MemoryPlan& plan, double share, int64_t wanted_tokens) {
  if (options.num_kv_blocks > 0) return options.num_kv_blocks;
  if (options.kv_cache_bytes > 0) return options.kv_cache_bytes / plan.kv_block_bytes;
  return default_num_blocks(plan, share, wanted_tokens);
}

void set_num_blocks(MemoryPlan& plan, int64_t num_blocks, int64_t wanted_len) {
  EngineLimits& limits = plan.limits;
  limits.num_kv_blocks = num_blocks;
  plan.kv_bytes = num_blocks * plan.kv_block_bytes;
  const int64_t pool_tokens = num_blocks * limits.block_size;
  limits.max_model_len = static_cast<int32_t>(std::min(wanted_len, pool_tokens));  // more could never be cached
  const int64_t len_blocks = (int64_t{limits.max_model_len} + limits.block_size - 1) / limits.block_size;
  limits.max_blocks_per_seq = static_cast<int32_t>(std::min(len_blocks, num_blocks));
}

int32_t choose_num_checkpoints(const EngineOptions& options, const MemoryPlan& plan) {
  if (!options.prefix_cache || plan.state_slot_bytes == 0) return 0;
  const int64_t left = std::max<int64_t>(
      0, plan.device_limit_bytes - plan.weights_bytes - plan.adapter_bytes - vision_on_device(plan) - plan.state_bytes);
  const int64_t affordable = left / kDefaultCheckpointShare / plan.state_slot_bytes;
  const int64_t useful = std::max(kMinDefaultCheckpoints, kCheckpointsPerSequence * plan.limits.max_num_seqs);
  const int64_t asked = std::min(options.checkpoint_bytes / plan.state_slot_bytes, kMaxCheckpoints);
  return static_cast<int32_t>(options.checkpoint_bytes > 0 ? asked : std::min(affordable, useful));
}

}  // namespace

int32_t default_num_seqs(const device::DeviceInfo& device, int64_t left_bytes, int64_t state_slot_bytes,
                         int64_t token_bytes) noexcept {
  if (!device.has_own_memory || device.max_step_seconds > 0) return kFewSequences;
  const int64_t sequence_bytes = std::max<int64_t>(1, state_slot_bytes + kTokensPerSequence * token_bytes);
  return static_cast<int32_t>(std::clamp<int64_t>(left_bytes / 2 / sequence_bytes, kFewSequences, kManySequences));
}

double default_cache_share(const device::DeviceInfo& device) noexcept { return device.has_own_memory ? 0.95 : 0.4; }

int64_t default_cache_tokens(const device::DeviceInfo& device, int64_t wanted_len, int32_t max_num_seqs,
                             int64_t max_model_len) noexcept {
  const bool draws_the_screen = device.max_step_seconds > 0 && !device.has_own_memory;
  const int64_t all = wanted_len * max_num_seqs;
  return draws_the_screen ? std::min(all, std::max(kScreenTokens, max_model_len)) : all;
}

int32_t max_drafts(const EngineOptions& options, const cache::CacheLayout& layout) noexcept {
  if (options.speculation == "off") return 0;
  const int32_t most = layout.has_state() ? layout.max_drafts : speculate::kMaxPositions;
  return options.max_drafts > 0 ? std::min(options.max_drafts, most) : most;
}

Status check_options(const EngineOptions& options) {
  PAGODA_RETURN_IF_ERROR(check_range("num_threads", options.num_threads, 0, 1024));
  PAGODA_RETURN_IF_ERROR(check_range("max_num_seqs", options.max_num_seqs, 0, 4096));
  PAGODA_RETURN_IF_ERROR(check_range("max_num_batched_tokens", options.max_num_batched_tokens, 0, 1 << 20));
  PAGODA_RETURN_IF_ERROR(check_range("max_model_len", options.max_model_len, 0, 1 << 28));
  PAGODA_RETURN_IF_ERROR(check_range("num_kv_blocks", options.num_kv_blocks, 0, int64_t{1} << 31));
  PAGODA_RETURN_IF_ERROR(check_range("kv_cache_bytes", options.kv_cache_bytes, 0, int64_t{1} << 50));
  PAGODA_RETURN_IF_ERROR(check_range("checkpoint_bytes", options.checkpoint_bytes, 0, int64_t{1} << 50));
  PAGODA_RETURN_IF_ERROR(check_range("host_cache_bytes", options.host_cache_bytes, 0, int64_t{1} << 50));
  PAGODA_RETURN_IF_ERROR(check_range("weight_cache_disk_bytes", options.weight_cache_disk_bytes, 0, int64_t{1} << 50));
  PAGODA_RETURN_IF_ERROR(check_range("expert_memory_bytes", options.expert_memory_bytes, 0, int64_t{1} << 50));
  if (!options.pipeline.empty() && options.expert_memory_bytes > 0)
    return make_field_error(StatusCode::unsupported, "expert_memory_bytes",
                            "pipeline and expert_memory_bytes exclude each other");
  PAGODA_RETURN_IF_ERROR(check_range("prefix_cache_disk_bytes", options.prefix_cache_disk_bytes, 0, int64_t{1} << 50));
  PAGODA_RETURN_IF_ERROR(check_range("lora_bytes", options.lora_bytes, 0, int64_t{1} << 50));
  if (!options.pipeline.empty() && (!options.loras.empty() || options.lora_bytes > 0))
    return make_field_error(StatusCode::unsupported, "pipeline", "pipeline and LoRA adapters exclude each other");
  PAGODA_RETURN_IF_ERROR(check_range("max_image_tokens", options.max_image_tokens, 1, 1 << 16));
  PAGODA_RETURN_IF_ERROR(check_range("image_cache_bytes", options.image_cache_bytes, 0, int64_t{1} << 50));
  if (options.max_step_ms != -1 && !(options.max_step_ms >= 0 && options.max_step_ms <= 1e6))
    return make_field_error(StatusCode::invalid_argument, "max_step_ms",
                            concat("max_step_ms must be 0 to 1000000, or -1, not ", options.max_step_ms));
  PAGODA_RETURN_IF_ERROR(check_range("max_drafts", options.max_drafts, 0, speculate::kMaxPositions));
  if (options.speculation != "auto" && options.speculation != "off" && options.speculation != "lookup" &&
      options.speculation != "mtp")
    return make_field_error(StatusCode::invalid_argument, "speculation",
                            "speculation must be auto, off, mtp or lookup, not " + options.speculation);
  PAGODA_RETURN_IF_ERROR(check_range("pipeline_timeout_ms", options.pipeline_timeout_ms, 100, 3'600'000));
  if (!options.pipeline.empty() && !options.prefix_cache_dir.empty())
    return make_field_error(StatusCode::unsupported, "prefix_cache_dir",
                            "pipeline and prefix_cache_dir exclude each other");
  if (!options.pipeline.empty() && options.host_cache_bytes > 0)
    return make_field_error(StatusCode::unsupported, "host_cache_bytes",
                            "pipeline and host_cache_bytes exclude each other");
  if (!options.pipeline.empty() && (options.speculation == "mtp" || options.speculation == "lookup"))
    return make_field_error(StatusCode::unsupported, "speculation",
                            "pipeline and speculation " + options.speculation + " exclude each other");
  if (options.block_size != 8 && options.block_size != 16 && options.block_size != 32)
    return make_field_error(StatusCode::invalid_argument, "block_size",
                            concat("block_size must be 8, 16 or 32, not ", options.block_size));
  return ok_status();
}

Result<MemoryPlan> plan_memory(const EngineOptions& options, const io::ModelConfig& config,
                               const cache::CacheLayout& layout, const device::Device& device, int64_t weights_bytes,
                               int64_t limit_bytes, const VisionBytes& vision, int64_t adapter_bytes,
                               int64_t adapter_table_bytes) {
  PAGODA_RETURN_IF_ERROR(check_options(options));
  MemoryPlan plan;
  EngineLimits& limits = plan.limits;
  plan.device_limit_bytes = limit_bytes > 0 ? limit_bytes : device.info().memory_limit_bytes;
  plan.weights_bytes = weights_bytes;
  plan.vision_bytes = vision.device + vision.host;
  plan.vision_host_bytes = device.info().has_own_memory ? vision.host : 0;
  limits.adapter_bytes = adapter_bytes;
  plan.adapter_bytes = adapter_bytes + adapter_table_bytes;
  plan.host_cache_bytes = options.prefix_cache ? options.host_cache_bytes : 0;
  plan.has_own_memory = device.info().has_own_memory;
  plan.kv_block_bytes = layout.kv_block_bytes();
  plan.state_slot_bytes = layout.state_slot_bytes();
  plan.head_kv_block_bytes = layout.num_head_layers * layout.head_block_bytes();
  plan.head_state_slot_bytes = layout.hidden_slot_bytes();
  limits.block_size = options.block_size;
  limits.max_num_tokens =
      options.max_num_batched_tokens > 0 ? options.max_num_batched_tokens : device.info().step_tokens;
  const int64_t left_bytes = plan.device_limit_bytes - weights_bytes - plan.adapter_bytes - vision_on_device(plan);
  const int32_t num_seqs = options.max_num_seqs > 0 ? options.max_num_seqs
                                                    : default_num_seqs(device.info(), left_bytes, plan.state_slot_bytes,
                                                                       plan.kv_block_bytes / limits.block_size);
  limits.max_num_seqs = std::min(num_seqs, limits.max_num_tokens);  // every sequence can advance in a step
  const int32_t num_running_slots = layout.has_state() ? limits.max_num_seqs : 0;
  plan.state_bytes = num_running_slots * plan.state_slot_bytes;
  limits.num_checkpoints = choose_num_checkpoints(options, plan);
  limits.num_state_slots = num_running_slots + limits.num_checkpoints;
  plan.checkpoint_bytes = limits.num_checkpoints * plan.state_slot_bytes;

  if (options.max_model_len > config.context_length)
    return make_field_error(StatusCode::invalid_argument, "max_model_len",
                            concat("max_model_len ", options.max_model_len, " is more than the model's context of ",
                                   config.context_length, " tokens"));
  const int64_t wanted_len = options.max_model_len > 0 ? options.max_model_len : config.context_length;
  const int64_t num_blocks =
      choose_num_blocks(options, plan, default_cache_share(device.info()),
                        default_cache_tokens(device.info(), wanted_len, limits.max_num_seqs, options.max_model_len));
  if (num_blocks < 1)
    return make_field_error(StatusCode::out_of_memory, "kv_cache_bytes",
                            concat("kv_cache_bytes of ", options.kv_cache_bytes,
                                   " bytes is less than one KV block, which takes ", plan.kv_block_bytes, " bytes"));
  set_num_blocks(plan, num_blocks, wanted_len);
  if (limits.num_checkpoints > 0)
    limits.max_state_saves = std::min(limits.max_num_seqs + kSavesBesideSequences, limits.num_checkpoints);
  limits.max_draft_rows =
      std::min({limits.max_num_seqs * max_drafts(options, layout), kMaxDraftRows, limits.max_num_tokens});
  limits.max_logits_rows = limits.max_num_seqs + limits.max_draft_rows;
  plan.workspace_bytes = model::workspace_bytes(config, device, limits);
  const int64_t excess = plan.total_bytes() - plan.device_limit_bytes;
  if (excess > 0 && has_default_cache(options)) {  // a smaller cache needs no larger workspace
    const int64_t fewer = (excess + plan.kv_block_bytes - 1) / plan.kv_block_bytes;
    set_num_blocks(plan, std::max<int64_t>(1, limits.num_kv_blocks - fewer), wanted_len);
    plan.workspace_bytes = model::workspace_bytes(config, device, limits);
  }

  if (plan.total_bytes() > plan.device_limit_bytes)
    return make_error(StatusCode::out_of_memory, "the model does not fit: " + plan_text(plan) + ", in all " +
                                                     size_text(plan.total_bytes()) + "; the device allows " +
                                                     size_text(plan.device_limit_bytes));
  if (plan.host_cache_bytes > device::host::memory_limit_bytes())
    return make_field_error(StatusCode::out_of_memory, "host_cache_bytes",
                            "host_cache_bytes is " + size_text(plan.host_cache_bytes) + "; the host allows " +
                                size_text(device::host::memory_limit_bytes()));
  return plan;
}

}  // namespace pagoda::engine
