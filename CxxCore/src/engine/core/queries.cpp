// EngineCore: what others ask of it: statistics, prefixes in the cache and in files.
#include <new>
#include <string>
#include <utility>

#include "engine/core/engine_core.h"

namespace pagoda::engine {

PrefixMatch EngineCore::find_prefix(const std::vector<int32_t>& prompt_ids, const std::string& cache_salt) const {
  PrefixMatch match;
  match.status = builder_.check_prefix(prompt_ids, cache_salt);
  if (!match.status.is_ok() || !config_.prefix_cache) return match;
  const cache::PrefixIndex::Match found = cache_.look_up(cache_salt, prompt_ids);
  match.num_matched_tokens = found.num_matched;
  match.num_cached_tokens = found.num_tokens;
  return match;
}

PrefixFilesResult EngineCore::prefix_files(const std::vector<int32_t>& prompt_ids,
                                           const std::string& cache_salt) const {
  PrefixFilesResult result;
  result.status = builder_.check_prefix(prompt_ids, cache_salt);
  if (result.status.is_ok() && config_.disk) result.files = config_.disk->find_chain(cache_salt, prompt_ids);
  return result;
}

Status EngineCore::add_prefix_file(const std::string& path, const std::string& name) const {
  if (!config_.disk) return make_error(StatusCode::unsupported, "the engine keeps no prefixes on disk");
  return config_.disk->adopt(path, name);
}

PrefixPin EngineCore::pin_prefix(const std::string& salt, std::span<const int32_t> tokens) {
  PrefixPin pin = prefixes_.pin(salt, tokens);
  publish_stats();
  return pin;
}

void EngineCore::unpin_prefix(uint64_t pin_id) noexcept {
  prefixes_.unpin(pin_id);
  publish_stats();
}

EngineStats EngineCore::stats() const {
  std::string fault = model_.ready().message;
  EngineStats stats = recorder_.read();
  if (stats.fault.empty()) stats.fault = std::move(fault);
  return stats;
}

void EngineCore::publish_stats() noexcept {
  activity().set_lanes(scheduler_);
  const grammar::MaskStats masks = masks_.stats();
  const cache::PrefixIndex& index = cache_.index();
  const cache::PrefixCacheStats& cache = cache_.stats();
  EngineStats stats{.num_waiting = scheduler_.num_waiting() + images_.num_waiting(),
                    .num_running = scheduler_.num_running(),
                    .num_free_blocks = blocks_.num_free(),
                    .num_blocks = blocks_.num_blocks(),
                    .num_free_state_slots = states_.num_free() - index.max_checkpoints() + index.num_checkpoints(),
                    .num_state_slots = states_.num_slots() - index.max_checkpoints(),
                    .num_preemptions = scheduler_.num_preemptions(),
                    .num_masks = masks.num_masks,
                    .num_late_masks = masks_.num_late_masks(),
                    .mask_seconds = masks.mask_seconds,
                    .fault = {},
                    .cache = {.num_lookups = cache.num_lookups,
                              .num_hits = cache.num_hits,
                              .num_cached_tokens = cache.num_cached_tokens,
                              .num_recomputed_tokens = cache.num_recomputed_tokens,
                              .num_cached_blocks = index.num_nodes(),
                              .num_block_evictions = blocks_.num_evictions(),
                              .num_checkpoints = index.num_checkpoints(),
                              .max_checkpoints = index.max_checkpoints(),
                              .checkpoint_bytes = index.num_checkpoints() * config_.state_slot_bytes,
                              .num_checkpoint_evictions = index.num_checkpoint_evictions(),
                              .num_checkpoint_hits = index.num_checkpoint_hits(),
                              .last_near_miss = cache.last_near_miss},
                    .speculation = drafting_.stats(),
                    .disk = {},
                    .host = {},
                    .images = images_.stats(),
                    .experts = model_.expert_stats()};
  try {
    stats.fault = faults_.text();
    if (restorer_.has_stores() && config_.disk) stats.disk = config_.disk->stats();
    if (restorer_.has_stores() && config_.host) stats.host = config_.host->stats();
  } catch (const std::bad_alloc&) {  // the rest is published
  }
  recorder_.publish(std::move(stats));
}

}  // namespace pagoda::engine
