// EngineStats: counters and levels of a running engine.
#pragma once

#include <cstdint>
#include <string>

namespace pagoda {

struct CacheStats {
  int64_t num_lookups = 0;            // requests that looked for their prompt
  int64_t num_hits = 0;               // of those, with at least one token found
  int64_t num_cached_tokens = 0;      // prompt tokens found, over all hits
  int64_t num_recomputed_tokens = 0;  // computed again after a preemption, because they had been given up
  int64_t num_cached_blocks = 0;      // KV blocks whose tokens are known, in use or not
  int64_t num_block_evictions = 0;    // of those, given to other content so far
  int32_t num_checkpoints = 0;        // recurrent states kept
  int32_t max_checkpoints = 0;
  int64_t checkpoint_bytes = 0;  // of the states kept
  int64_t num_checkpoint_evictions = 0;
  int64_t num_checkpoint_hits = 0;  // sequences that resumed from one of them
  // Token index at which the last near-miss diverged: its KV blocks matched further than any saved state; -1 before
  // one.
  int32_t last_near_miss = -1;
};

struct DiskStats {         // of EngineOptions::prefix_cache_dir
  bool is_on = false;      // whether new files are written; after a failure, tried again every few seconds
  std::string off_reason;  // why not, when there is a folder
  int64_t num_files = 0;   // in the folder, those of other processes included
  int64_t bytes = 0;       // of them
  int64_t max_bytes = 0;
  int64_t num_reads = 0;
  int64_t num_writes = 0;
  int64_t num_failures = 0;   // writes that failed
  int64_t num_dropped = 0;    // not written because the disk was too slow
  int64_t num_evictions = 0;  // removed to stay below max_bytes
  int64_t num_bad_files = 0;  // removed because something in them was not as it should be
};

struct HostCacheStats {       // of EngineOptions::host_cache_bytes
  int64_t num_prefixes = 0;   // kept now
  int64_t bytes = 0;          // of them
  int64_t max_bytes = 0;      // 0: none are kept
  int64_t num_hits = 0;       // read back into the caches
  int64_t num_writes = 0;     // copied out of them
  int64_t num_dropped = 0;    // not copied because they are larger than max_bytes
  int64_t num_evictions = 0;  // given up to stay below max_bytes
};

struct SpeculationStats {
  int64_t num_draft_steps = 0;  // of one sequence, with at least one draft
  int64_t num_drafted_tokens = 0;
  int64_t num_accepted_tokens = 0;
  int64_t num_accepted_at[15] = {};  // by the draft's position in its step
  double saved_ms = 0;               // against steps without drafts, by what those took; negative when lost
};

struct EngineStats {
  int32_t num_waiting = 0;
  int32_t num_running = 0;
  int64_t num_free_blocks = 0;  // without a sequence that holds them; they may be cached all the same
  int64_t num_blocks = 0;
  int32_t num_free_state_slots = 0;
  int32_t num_state_slots = 0;
  int64_t num_steps = 0;
  int64_t num_preemptions = 0;
  int64_t num_computed_tokens = 0;  // rows run through the model, recomputed ones included
  int64_t num_generated_tokens = 0;
  // Time of all steps so far, by phase: choosing what runs, the model, and drawing tokens, with the events of that.
  double plan_seconds = 0, forward_seconds = 0, sample_seconds = 0;
  int64_t num_masks = 0;       // of tokens that a grammar allows, remembered ones included
  int64_t num_late_masks = 0;  // rows that had to wait for theirs, in no step
  double mask_seconds = 0;     // spent on them, beside the steps
  std::string fault;           // why no step succeeds any more: the device failed; empty while it works
  CacheStats cache;
  SpeculationStats speculation;
  DiskStats disk;
  HostCacheStats host;
};

}  // namespace pagoda
