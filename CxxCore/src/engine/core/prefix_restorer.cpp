// PrefixRestorer: opens the stores of an engine, and lets them read while steps run.
#include "engine/core/prefix_restorer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pagoda::engine {

using request::Sequence;

constexpr auto kIdlePatience = std::chrono::milliseconds(5);  // for a step that can only wait

PrefixRestorer::PrefixRestorer(const CoreConfig& config, PrefixCopier& copier, cache::PrefixCache& cache,
                               scheduler::Scheduler& scheduler)
    : scheduler_(scheduler), cache_(cache) {
  std::vector<std::shared_ptr<PrefixStore>> stores;
  if (config.host) stores.push_back(config.host);
  if (config.disk) stores.push_back(config.disk);
  if (stores.empty() || !config.keeps_prefixes()) return;
  tiers_.emplace(copier, cache, std::move(stores));
  scheduler_.set_before_preempting([this](Sequence& sequence) {
    leave(sequence);
    sequence.is_restoring = sequence.uses_cache;
  });
}

Sequence* PrefixRestorer::advance(const RequestTable& requests) noexcept {
  if (!tiers_) return nullptr;
  try {
    for (const PrefixTiers::Ended& ended : tiers_->end_reads())
      if (ActiveRequest* request = requests.find(ended.sequence_id))
        request->sequence.is_restoring = !ended.is_placed && ended.is_worth_retrying;
    const std::span<Sequence* const> waiting = scheduler_.find_to_restore();
    const auto preempted = std::ranges::find_if(waiting, [](const Sequence* s) { return s->num_preemptions > 0; });
    tiers_->begin_reads(waiting.first(static_cast<size_t>(preempted - waiting.begin())));
    return preempted == waiting.end() ? nullptr : *preempted;
  } catch (const std::exception&) {
    return nullptr;  // no memory: the next step looks again
  }
}

// Blocks that cannot be restored, for any reason, are computed.
void PrefixRestorer::restore_now(Sequence& preempted) noexcept {
  try {
    if (tiers_->read_now(preempted)) cache_.expect_return(preempted);
  } catch (const std::exception&) {
    preempted.is_restoring = false;
  }
}

void PrefixRestorer::note_plan(Sequence& preempted) noexcept {
  if (preempted.state == request::SequenceState::waiting) preempted.is_restoring = true;
}

void PrefixRestorer::wait_for_any() {
  if (is_restoring()) tiers_->wait_for_any(Clock::now() + kIdlePatience);
}

void PrefixRestorer::store(const Sequence& sequence, int32_t position, int32_t slot) noexcept {
  if (tiers_) tiers_->write(sequence, position, slot);
}

void PrefixRestorer::leave(const Sequence& sequence) noexcept {
  if (sequence.uses_cache && sequence.num_computed_tokens > 0)
    store(sequence, sequence.num_computed_tokens, sequence.state_slot);
}

}  // namespace pagoda::engine
