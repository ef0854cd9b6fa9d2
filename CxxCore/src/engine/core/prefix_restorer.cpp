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
                               scheduler::Scheduler& scheduler, bool waits_for_copies)
    : scheduler_(scheduler), cache_(cache), waits_for_copies_(waits_for_copies) {
  std::vector<std::shared_ptr<PrefixStore>> stores;
  if (config.host) stores.push_back(config.host);
  if (config.disk) stores.push_back(config.disk);
  if (stores.empty() || !config.keeps_prefixes()) return;
  tiers_.emplace(copier, cache, std::move(stores));
  scheduler_.set_before_preempting([this](Sequence& sequence) {
    store_end(sequence, false);
    sequence.is_restoring = sequence.uses_cache;
  });
  scheduler_.set_frees_blocks_soon([this] { return tiers_->frees_blocks_soon(); });
}

// Sequences that are short of blocks wait for the copies that hold some, so none begins before they have enough.
void PrefixRestorer::advance(const RequestTable& requests) noexcept {
  restored_id_ = 0;
  if (!tiers_) return;
  try {
    tiers_->end_writes();
    end_reads(requests);
    if (scheduler_.is_short_of_blocks()) return;
    // In order: what waits behind a preempted sequence would take the space that it waits for.
    const std::span<Sequence* const> waiting = scheduler_.find_to_restore();
    const auto preempted = std::ranges::find_if(waiting, [](const Sequence* s) { return s->num_preemptions > 0; });
    const bool has_preempted = preempted != waiting.end();
    tiers_->begin_reads(waiting.first(static_cast<size_t>(preempted - waiting.begin()) + size_t{has_preempted}));
    if (has_preempted && waits_for_copies_) {
      tiers_->wait_for_reads();
      end_reads(requests);
    }
    if (has_preempted && !(*preempted)->is_restoring) restored_id_ = (*preempted)->id;
  } catch (const std::exception&) {  // no memory: the next step looks again
  }
}

void PrefixRestorer::end_reads(const RequestTable& requests) {
  for (const PrefixTiers::Ended& ended : tiers_->end_reads()) {
    ActiveRequest* request = requests.find(ended.sequence_id);
    if (!request) continue;
    Sequence& sequence = request->sequence;
    sequence.is_restoring = !ended.is_placed && ended.is_worth_retrying;
    if (sequence.num_preemptions == 0 || sequence.is_restoring) continue;
    if (ended.is_placed) cache_.expect_return(sequence);
    restored_id_ = sequence.id;
  }
}

void PrefixRestorer::note_plan(const RequestTable& requests) noexcept {
  ActiveRequest* request = restored_id_ != 0 ? requests.find(restored_id_) : nullptr;
  if (request && request->sequence.state == request::SequenceState::waiting) request->sequence.is_restoring = true;
}

void PrefixRestorer::wait_for_any() {
  if (is_copying()) tiers_->wait_for_any(Clock::now() + kIdlePatience);
}

void PrefixRestorer::settle_writes() noexcept {
  if (!waits_for_copies_) return;
  tiers_->wait_for_writes();
  tiers_->end_writes();
}

void PrefixRestorer::store(const Sequence& sequence, int32_t position) noexcept {
  if (!tiers_) return;
  tiers_->write(sequence, position);
  settle_writes();
}

void PrefixRestorer::store_end(Sequence& sequence, bool becomes_checkpoint) noexcept {
  if (!tiers_ || !sequence.uses_cache || sequence.num_computed_tokens == 0) return;
  tiers_->write_end(sequence, becomes_checkpoint);
  settle_writes();
}

}  // namespace pagoda::engine
