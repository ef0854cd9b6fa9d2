// FairQueue: sorted vectors, one of all waiting sequences and one per share; a queue of 10,000 moves 80 KB per removal.
#include "scheduler/fair_queue.h"

#include <algorithm>
#include <tuple>

namespace pagoda::scheduler {

using request::Sequence;

constexpr size_t kMaxShares = 1024;  // above this, shares without sequences are dropped, regardless of their use

static bool arrived_before(const Sequence* a, const Sequence* b) noexcept {
  const auto rank = [](const Sequence* s) { return std::tuple(s->leader_id != 0, !s->is_overdue, s->priority, s->id); };
  return rank(a) < rank(b);
}

// Preempted sequences precede all that have not run yet, which could evict their cached blocks.
static bool runs_before(const Sequence* a, const Sequence* b) noexcept {
  const auto rank = [](const Sequence* s) {
    const int64_t due = s->arrival_work + kPatience * s->num_to_compute;
    return std::tuple(s->leader_id, s->leader_id != 0 ? s->awaited_position : 0, s->priority, s->num_preemptions == 0,
                      due, s->id);
  };
  return rank(a) < rank(b);
}

template <class Order>
static void insert_sorted(std::vector<Sequence*>& sequences, Sequence* sequence, Order order) noexcept {
  sequences.insert(std::ranges::upper_bound(sequences, sequence, order), sequence);  // add() has reserved the space
}

template <class Order>
static size_t erase_sorted(std::vector<Sequence*>& sequences, const Sequence* sequence, Order order) noexcept {
  const auto found = std::ranges::lower_bound(sequences, sequence, order);
  const auto index = static_cast<size_t>(found - sequences.begin());
  sequences.erase(found);
  return index;
}

static void make_room(std::vector<Sequence*>& sequences, int32_t count) {
  const size_t wanted = static_cast<size_t>(count);
  if (sequences.capacity() < wanted) sequences.reserve(std::max(wanted, 2 * sequences.capacity()));
}

int64_t FairQueue::least_used() const noexcept {
  int64_t least = -1;
  for (const Share& share : shares_)
    if (share.num_alive > 0 && (least < 0 || share.used < least)) least = share.used;
  return std::max<int64_t>(least, 0);
}

// A share without sequences is kept while it is ahead of the others, so that a client gains nothing by disconnecting
// and reconnecting. The first sequence after an idle time resets all shares, not only its own: what a client used while
// no other waited took nothing from them.
int32_t FairQueue::find_or_make_share(const std::string& id) {
  if (num_alive_ == 0)
    for (Share& share : shares_) share.used = 0;
  const int64_t least = least_used();
  Share* free = nullptr;
  for (Share& share : shares_) {
    if (share.num_alive == 0 && (share.used <= least || shares_.size() >= kMaxShares)) free = &share;
    if (share.id != id) continue;
    if (share.num_alive == 0) share.used = std::max(share.used, least);
    return static_cast<int32_t>(&share - shares_.data());
  }
  if (!free) free = &shares_.emplace_back();
  free->id = id;
  free->used = least;
  return static_cast<int32_t>(free - shares_.data());
}

void FairQueue::add(Sequence* sequence, double now) {
  const int32_t index = find_or_make_share(sequence->share_id);
  Share& share = shares_[index];
  make_room(share.waiting, share.num_alive + 1);
  make_room(arrivals_, num_alive_ + 1);
  sequence->share = index;
  sequence->arrival_work = work_;
  sequence->waits_since = now;
  ++share.num_alive;
  ++num_alive_;
  put_back(sequence);
}

void FairQueue::put_back(Sequence* sequence) noexcept {
  insert_sorted(arrivals_, sequence, arrived_before);
  insert_sorted(share_of(*sequence).waiting, sequence, runs_before);
}

void FairQueue::take(Sequence* sequence) noexcept {
  erase_sorted(arrivals_, sequence, arrived_before);
  Share& share = share_of(*sequence);
  if (erase_sorted(share.waiting, sequence, runs_before) < share.num_skipped) --share.num_skipped;
}

void FairQueue::recount(Sequence* sequence, int32_t num_to_compute) noexcept {
  std::vector<Sequence*>& waiting = share_of(*sequence).waiting;
  erase_sorted(waiting, sequence, runs_before);
  sequence->num_to_compute = num_to_compute;
  insert_sorted(waiting, sequence, runs_before);
}

void FairQueue::park(Sequence* sequence, const Sequence& leader, int32_t position) noexcept {
  take(sequence);
  sequence->leader_id = leader.id;
  sequence->awaited_position = position;
  ++sequence->num_leaders;
  put_back(sequence);
}

// Sorted again as a whole: once for each leader, however many follow it.
void FairQueue::unpark(Sequence& leader, int32_t num_computed) noexcept {
  int32_t next = request::kNoPosition;
  bool is_changed = false;
  for (Share& share : shares_) {
    const auto is_before_leader = [&](const Sequence* s) { return s->leader_id < leader.id; };
    const auto first = std::ranges::partition_point(share.waiting, is_before_leader);
    auto last = first;
    for (; last != share.waiting.end() && (*last)->leader_id == leader.id; ++last) {
      if ((*last)->awaited_position > num_computed) break;
      if (leader.num_computed_tokens >= (*last)->awaited_position)
        (*last)->num_to_compute = (*last)->num_tokens() - (*last)->awaited_position;
    }
    if (last != share.waiting.end() && (*last)->leader_id == leader.id)
      next = std::min(next, (*last)->awaited_position);
    for (auto it = first; it != last; ++it) (*it)->leader_id = 0;
    if (first == last) continue;
    std::ranges::sort(share.waiting, runs_before);
    is_changed = true;
  }
  if (is_changed) std::ranges::sort(arrivals_, arrived_before);
  leader.next_awaited = next;
}

void FairQueue::find_overdue(double now) noexcept {
  for (Share& share : shares_) share.oldest = nullptr;
  for (Sequence* sequence : arrivals_) {
    Share& share = share_of(*sequence);
    if (sequence->leader_id != 0) break;
    if (sequence->is_overdue) share.last_overdue = now;  // the next one of its share after this one
    if (!share.oldest || sequence->id < share.oldest->id) share.oldest = sequence;
  }
  for (Share& share : shares_) {
    if (!share.oldest || share.oldest->is_overdue) continue;
    if (now - std::max(share.last_overdue, share.oldest->waits_since) < kMaxWaitSeconds) continue;
    erase_sorted(arrivals_, share.oldest, arrived_before);
    share.oldest->is_overdue = true;
    insert_sorted(arrivals_, share.oldest, arrived_before);
    share.last_overdue = now;
  }
}

void FairQueue::forget(Sequence* sequence) noexcept {
  if (sequence->state == request::SequenceState::waiting) take(sequence);
  --share_of(*sequence).num_alive;
  --num_alive_;
}

void FairQueue::charge(const Sequence& sequence, int64_t num_tokens) noexcept {
  share_of(sequence).used += num_tokens;
  work_ += num_tokens;
}

bool FairQueue::precedes(const Sequence& a, const Sequence& b) const noexcept {
  const auto rank = [this](const Sequence& s) {
    return std::tuple(s.priority, share_of(s).used, s.num_preemptions == 0, s.num_to_compute, s.id);
  };
  return rank(a) < rank(b);
}

void FairQueue::begin_pass() noexcept {
  for (Share& share : shares_) share.num_skipped = 0;
}

Sequence* FairQueue::candidate() const noexcept {
  Sequence* best = nullptr;
  for (const Share& share : shares_) {
    if (share.num_skipped >= share.waiting.size()) continue;
    Sequence* sequence = share.waiting[share.num_skipped];
    if (sequence->leader_id != 0) continue;
    if (!best || precedes(*sequence, *best)) best = sequence;
  }
  return best;
}

void FairQueue::skip(const Sequence& candidate) noexcept { ++share_of(candidate).num_skipped; }

}  // namespace pagoda::scheduler
