// PrefixRestorer: moves prefixes between the caches and the stores behind them, host memory and disk, as sequences
// wait, run and leave. Blocks of a preempted sequence are stored first, and restored before it continues.
// State: the stores, if there are any. Thread rule: the engine's thread.
#pragma once

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
  PrefixRestorer(const CoreConfig& config, PrefixCopier& copier, cache::PrefixCache& cache,
                 scheduler::Scheduler& scheduler);
  PrefixRestorer(const PrefixRestorer&) = delete;  // the scheduler calls it
  PrefixRestorer& operator=(const PrefixRestorer&) = delete;

  bool has_stores() const noexcept { return tiers_.has_value(); }
  void begin(request::Sequence& sequence) const noexcept { sequence.is_restoring = has_stores(); }

  // Before a step is planned: takes the prefixes that have arrived, and begins to restore those of waiting sequences,
  // beside the steps. Returns a preempted sequence to restore now, or null: it is admitted in the step that gets its
  // prefixes, because in the next one others may need the space.
  request::Sequence* advance(const RequestTable& requests) noexcept;
  void restore_now(request::Sequence& preempted) noexcept;  // on this thread, which may take long
  // A sequence that the step does not admit after all restores again: the next step may evict its prefixes.
  static void note_plan(request::Sequence& preempted) noexcept;
  bool is_restoring() const noexcept { return tiers_ && tiers_->is_reading(); }
  void wait_for_any();  // for a step that can only wait; returns soon, because new requests may arrive

  // Stores the first `position` tokens, whose state is in `slot`; leave: all computed tokens of a sequence that gives
  // its memory back.
  void store(const request::Sequence& sequence, int32_t position, int32_t slot) noexcept;
  void leave(const request::Sequence& sequence) noexcept;

 private:
  scheduler::Scheduler& scheduler_;
  cache::PrefixCache& cache_;
  std::optional<PrefixTiers> tiers_;
};

}  // namespace pagoda::engine
