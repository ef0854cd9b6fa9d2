// EngineCore: the statistics, published after every admission, step and request.
#include <new>
#include <string>
#include <utility>

#include "engine/core/engine_core.h"

namespace pagoda::engine {

EngineStats EngineCore::stats() const {
  std::string fault = model_.ready().message;
  std::lock_guard lock(stats_mutex_);
  EngineStats stats = stats_;
  if (stats.fault.empty()) stats.fault = std::move(fault);
  return stats;
}

// Before a step sends events: a request counts as running when its first token arrives.
void EngineCore::publish_admissions() noexcept {
  if (scheduler_.num_running() != stats_.num_running) publish_stats();  // only this thread writes stats_
}

void EngineCore::publish_stats() noexcept {
  DiskStats disk;
  std::string fault;
  try {
    if (!fault_.is_ok()) fault = fault_.message.empty() ? "device error" : fault_.message;
    if (tiers_ && config_.disk) disk = config_.disk->stats();
  } catch (const std::bad_alloc&) {  // fields with text stay unchanged
  }
  activity_.set_lanes(scheduler_);
  const grammar::MaskStats masks = masks_.stats();
  std::lock_guard lock(stats_mutex_);
  const cache::PrefixIndex& index = cache_.index();
  const cache::PrefixCacheStats& cache = cache_.stats();
  const int32_t num_running_slots = states_.num_slots() - index.max_checkpoints();
  stats_ = {.num_waiting = scheduler_.num_waiting() + static_cast<int32_t>(unseen_.size()),
            .num_running = scheduler_.num_running(),
            .num_free_blocks = blocks_.num_free(),
            .num_blocks = blocks_.num_blocks(),
            .num_free_state_slots = states_.num_free() - index.max_checkpoints() + index.num_checkpoints(),
            .num_state_slots = num_running_slots,
            .num_steps = num_steps_,
            .num_preemptions = scheduler_.num_preemptions(),
            .num_computed_tokens = num_computed_tokens_,
            .num_generated_tokens = num_generated_tokens_,
            .plan_seconds = seconds(plan_time_),
            .forward_seconds = seconds(forward_time_),
            .sample_seconds = seconds(sample_time_),
            .num_masks = masks.num_masks,
            .num_late_masks = num_late_masks_,
            .mask_seconds = masks.mask_seconds,
            .fault = std::move(fault),
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
            .speculation = speculation_,
            .disk = std::move(disk),
            .host = tiers_ && config_.host ? config_.host->stats() : HostCacheStats(),
            .images = images_.stats()};
}

}  // namespace pagoda::engine
