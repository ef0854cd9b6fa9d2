// Scheduler: the sequences that wait: what they have left to read, whom they follow, and who has waited too long.
#include <algorithm>

#include "scheduler/scheduler.h"

namespace pagoda::scheduler {

using request::Sequence;
using request::SequenceState;

constexpr size_t kReviewsPerStep = 8;  // each is two cache lookups and a comparison with every prompt being read
constexpr double kChecksPerWait = 16;  // how often to look for overdue sequences within kMaxWaitSeconds

void Scheduler::add(Sequence* sequence, double now) {
  sequence->state = SequenceState::waiting;
  sequence->num_to_compute = sequence->num_tokens();
  queue_.add(sequence, now);
  if (sequence->uses_cache) queue_.recount(sequence, sequence->num_tokens() - cache_.claim(*sequence));
}

void Scheduler::remove(Sequence* sequence, bool is_good) noexcept {
  if (sequence->state == SequenceState::running) {
    std::erase(running_, sequence);
    forecast_.note_end(*sequence);
  }
  queue_.forget(sequence);
  cache_.retire(*sequence, is_good);
  sequence->state = SequenceState::finished;
  end_leading(*sequence);
}

// Of a sequence that is not in the queue.
void Scheduler::count(Sequence& sequence) noexcept {
  sequence.num_to_compute = sequence.num_tokens();
  if (sequence.uses_cache) sequence.num_to_compute -= cache_.claim(sequence);
}

// Those that wait for a prefix that is computed now become candidates again. A few others are counted again, and wait
// for a prefix if another has begun to compute it: before it gets there, even if no step has tokens left for them.
void Scheduler::review_waiting() noexcept {
  for (Sequence* sequence : running_)
    if (sequence->num_computed_tokens >= sequence->next_awaited)
      queue_.unpark(*sequence, sequence->num_computed_tokens);
  const std::vector<Sequence*>& waiting = queue_.arrivals();
  for (size_t i = 0; i < std::min(kReviewsPerStep, waiting.size()); ++i) {
    Sequence& sequence = *waiting[next_review_++ % waiting.size()];
    if (!sequence.uses_cache || sequence.leader_id != 0 || sequence.is_restoring) continue;
    if (sequence.counted_version != cache_.version())
      queue_.recount(&sequence, sequence.num_tokens() - cache_.claim(sequence));
    if (sequence.num_admitted == num_admitted_) continue;
    sequence.num_admitted = num_admitted_;
    follows(sequence);
  }
}

void Scheduler::end_leading(Sequence& sequence) noexcept {
  if (sequence.next_awaited != request::kNoPosition) queue_.unpark(sequence, request::kNoPosition);
}

// Parks a waiting sequence if a running sequence computes a prefix for it.
bool Scheduler::follows(Sequence& newcomer) noexcept {
  if (newcomer.num_leaders >= kMaxLeaders) return false;
  const cache::PrefixCache::Leader leader = cache_.find_leader(newcomer, running_);
  if (!leader.sequence) return false;
  queue_.park(&newcomer, *leader.sequence, leader.position);
  cache_.note_follower(leader);
  ++num_parked_;
  return true;
}

void Scheduler::find_overdue() noexcept {
  if (now_ < next_check_) return;
  next_check_ = now_ + kMaxWaitSeconds / kChecksPerWait;
  queue_.find_overdue(now_);
  bool is_changed = false;
  for (Sequence* sequence : running_) {
    if (sequence->is_overdue || sequence->num_uncomputed() <= 1 || sequence->is_in_flight) continue;
    if (now_ - sequence->waits_since < kMaxWaitSeconds) continue;
    sequence->is_overdue = is_changed = true;
  }
  if (is_changed) std::ranges::sort(running_, is_older);
}

// A waiting sequence that no other may pass any more, or null. Of overdue ones the first of a share that runs nothing.
Sequence* Scheduler::next_in_turn() const noexcept {
  Sequence* oldest = queue_.oldest();
  if (!oldest || oldest->num_passes >= kMaxPasses) return oldest;
  for (Sequence* sequence : queue_.arrivals()) {
    if (!sequence->is_overdue || sequence->leader_id != 0) break;
    if (queue_.num_running(*sequence) == 0) return sequence;
  }
  return oldest->is_overdue ? oldest : nullptr;
}

bool Scheduler::has_place() const noexcept {
  return num_running() < limits_.max_num_seqs && (!limits_.has_state() || states_.num_free() > 0);
}

// One in each step, until the overdue sequence has a place and the blocks of its prompt.
void Scheduler::free_place_for_overdue() {
  const Sequence* next = next_in_turn();
  if (!next || !next->is_overdue || next->is_held || next->is_restoring || queue_.num_running(*next) > 0) return;
  if (has_place() && refused_id_ != next->id) return;
  Sequence* victim = nullptr;
  for (size_t i = running_.size(); i-- > 1;) {  // the oldest stays
    Sequence* sequence = running_[i];
    if (sequence->is_in_flight || sequence->is_held || queue_.num_running(*sequence) < 2) continue;
    if (sequence->is_overdue && sequence->num_uncomputed() > 1) continue;  // it has only begun to read
    if (!victim || queue_.num_running(*sequence) > queue_.num_running(*victim)) victim = sequence;
  }
  if (!victim) return;
  victim->is_overdue = false;  // it has run, and must not pass the one that gets its place
  preempt(victim);
}

}  // namespace pagoda::scheduler
