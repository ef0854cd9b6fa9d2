// PrefixRestorer: moves prefixes between the caches and the stores behind them, host memory and disk, as sequences
// wait, run and leave. Blocks of a preempted sequence are stored before others get them, and restored before it
// continues. All copies are made beside the steps.
// State: the stores, if there are any. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <optional>

#include "cache/prefix_cache.h"
#include "engine/core/core_config.h"
#include "engine/core/request_table.h"
#include "engine/tier/prefix_copier.h"
#include "engine/tier/prefix_tiers.h"
#include "request/sequence.h"
#include "scheduler/scheduler.h"

namespace pagoda::engine {

class PrefixRestorer {
 public:
  // `waits_for_copies`: see TestHooks.
  PrefixRestorer(const CoreConfig& config, PrefixCopier& copier, cache::PrefixCache& cache,
                 scheduler::Scheduler& scheduler, bool waits_for_copies);
  PrefixRestorer(const PrefixRestorer&) = delete;  // the scheduler calls it
  PrefixRestorer& operator=(const PrefixRestorer&) = delete;

  bool has_stores() const noexcept { return tiers_.has_value(); }
  void begin(request::Sequence& sequence) const noexcept { sequence.is_restoring = has_stores(); }

  // Before a step is planned: takes what has been copied, and begins to restore the prefixes of waiting sequences.
  void advance(const RequestTable& requests) noexcept;
  // After it is planned. A preempted sequence is admitted in the step that gets its prefixes, or restores again: in the
  // next step others may need the space.
  void note_plan(const RequestTable& requests) noexcept;
  bool is_copying() const noexcept { return tiers_ && tiers_->is_copying(); }
  void wait_for_any();  // for a step that can only wait; returns soon, because new requests may arrive

  // Stores the first `position` tokens and the checkpoint after them; leave: all computed tokens of a sequence that
  // ends.
  void store(const request::Sequence& sequence, int32_t position) noexcept;
  void leave(request::Sequence& sequence) noexcept { store_end(sequence, true); }

 private:
  void store_end(request::Sequence& sequence, bool becomes_checkpoint) noexcept;
  void settle_writes() noexcept;
  void end_reads(const RequestTable& requests);

  scheduler::Scheduler& scheduler_;
  cache::PrefixCache& cache_;
  const bool waits_for_copies_;
  uint64_t restored_id_ = 0;  // the preempted sequence that the next plan may admit; 0: none
  std::optional<PrefixTiers> tiers_;
};

}  // namespace pagoda::engine
