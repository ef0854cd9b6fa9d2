// EngineStats: counters and gauges of a running engine.
#pragma once

#include <cstdint>
#include <string>

#include "pagoda/expert_stats.h"

namespace pagoda {

struct CacheStats {
  int64_t num_lookups = 0;            // requests that looked up their prompt
  int64_t num_hits = 0;               // those with at least one token found
  int64_t num_cached_tokens = 0;      // prompt tokens found, over all hits
  int64_t num_recomputed_tokens = 0;  // computed again after a preemption because they had been evicted
  int64_t num_cached_blocks = 0;      // KV blocks with cached tokens, in use or not
  int64_t num_block_evictions = 0;    // cached blocks evicted so far
  int32_t num_checkpoints = 0;        // cached recurrent states
  int32_t max_checkpoints = 0;
  int64_t checkpoint_bytes = 0;  // of the cached states
  int64_t num_checkpoint_evictions = 0;
  int64_t num_checkpoint_hits = 0;  // sequences that resumed from a cached state
  // Token index at which the last near-miss diverged, a prompt whose KV blocks matched beyond the last saved state;
  // -1 if there was none.
  int32_t last_near_miss = -1;
};

struct DiskStats {         // statistics of EngineOptions::prefix_cache_dir
  bool is_on = false;      // whether new files are written; retried every few seconds after a failure
  std::string off_reason;  // why not, if there is a folder
  int64_t num_files = 0;   // in the folder, including those of other processes
  int64_t bytes = 0;       // of these files
  int64_t max_bytes = 0;
  int64_t num_reads = 0;
  int64_t num_writes = 0;
  int64_t num_failures = 0;   // writes that failed
  int64_t num_dropped = 0;    // not written because the disk was too slow
  int64_t num_evictions = 0;  // removed to stay below max_bytes
  int64_t num_bad_files = 0;  // removed because they were invalid
};

struct HostCacheStats {       // statistics of EngineOptions::host_cache_bytes
  int64_t num_prefixes = 0;   // currently
  int64_t bytes = 0;          // of these prefixes
  int64_t max_bytes = 0;      // 0: disabled
  int64_t num_hits = 0;       // read back into the device's caches
  int64_t num_writes = 0;     // copied out of the device's caches
  int64_t num_dropped = 0;    // not copied because they are larger than max_bytes
  int64_t num_evictions = 0;  // evicted to stay below max_bytes
};

struct SpeculationStats {
  int64_t num_draft_steps = 0;  // steps with at least one draft, counted per sequence
  int64_t num_drafted_tokens = 0;
  int64_t num_accepted_tokens = 0;
  int64_t num_accepted_at[15] = {};  // by the draft's position in its step
  double saved_ms = 0;  // compared with the measured time of steps without drafts; negative if time was lost
};

struct ImageStats {
  int64_t num_computed = 0;  // images that went through the vision tower
  int64_t num_hits = 0;      // images whose rows were known already
  int64_t cached_bytes = 0;  // of the rows that are kept for later requests
};

struct EngineStats {
  int32_t num_waiting = 0;
  int32_t num_running = 0;
  int64_t num_free_blocks = 0;  // not held by a sequence; they may still be cached
  int64_t num_blocks = 0;
  int32_t num_free_state_slots = 0;
  int32_t num_state_slots = 0;
  int64_t num_steps = 0;
  int64_t num_preemptions = 0;
  int64_t num_computed_tokens = 0;  // rows computed by the model, including recomputed ones
  int64_t num_generated_tokens = 0;
  // Time of all steps so far, by phase: scheduling, the model, and sampling including its events.
  double plan_seconds = 0, forward_seconds = 0, sample_seconds = 0;
  int64_t num_masks = 0;       // token masks of grammars, including cached ones
  int64_t num_late_masks = 0;  // rows left out of the steps until their mask was ready
  double mask_seconds = 0;     // spent on them, in parallel with the steps
  std::string fault;           // why no more steps succeed: the device failed; empty while it works
  CacheStats cache;
  SpeculationStats speculation;
  DiskStats disk;
  HostCacheStats host;
  ImageStats images;
  ExpertStats experts;
};

}  // namespace pagoda
