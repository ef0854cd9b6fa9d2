// FairQueue: the waiting sequences, in the order in which they should run, and the tokens used by each share.
// Order: the more urgent class first (lower `priority`); then the share that has used the fewest tokens; then preempted
// sequences; then the earliest due. A sequence is due when kPatience times as many tokens as it has left to read were
// computed since its arrival: a short one passes a long one that arrived a little earlier, but not one that has waited
// for long. A share groups one client's requests (Sequence::share_id): clients with waiting work get the same number of
// tokens each, however many requests they send.
// A parked sequence is no candidate: a running one, its leader, computes a prefix for it.
// State: per share its tokens so far and its waiting sequences; only add() allocates.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/sequence.h"

namespace pagoda::scheduler {

constexpr int64_t kPatience = 8;
constexpr double kMaxWaitSeconds = 10;

class FairQueue {
 public:
  // Adds a new waiting sequence; `now` in seconds. Changes nothing if it throws.
  void add(request::Sequence* sequence, double now);
  void take(request::Sequence* sequence) noexcept;      // a waiting sequence starts to run
  void put_back(request::Sequence* sequence) noexcept;  // a taken sequence waits again
  void forget(request::Sequence* sequence) noexcept;    // removes a waiting or taken sequence

  void recount(request::Sequence* sequence, int32_t num_to_compute) noexcept;  // of a waiting sequence
  // A waiting sequence is no candidate until the leader has computed the tokens before `position`, or leaves.
  void park(request::Sequence* sequence, const request::Sequence& leader, int32_t position) noexcept;
  // Ends the waiting for the first `num_computed` tokens of a leader. Not during a pass.
  void unpark(request::Sequence& leader, int32_t num_computed) noexcept;

  // A sequence becomes overdue when it and its share have waited kMaxWaitSeconds: it since it arrived or last ran, its
  // share since another of its sequences became overdue. One of each share at a time.
  void find_overdue(double now) noexcept;

  // `num_tokens` of the sequence are computed now and charged to its share.
  void charge(const request::Sequence& sequence, int64_t num_tokens) noexcept;
  bool precedes(const request::Sequence& a, const request::Sequence& b) const noexcept;

  // An overdue sequence, or else the first arrival of the most urgent class; null if none waits or all are parked.
  request::Sequence* oldest() const noexcept {
    return arrivals_.empty() || arrivals_.front()->leader_id != 0 ? nullptr : arrivals_.front();
  }
  const std::vector<request::Sequence*>& arrivals() const noexcept { return arrivals_; }
  int32_t num_waiting() const noexcept { return static_cast<int32_t>(arrivals_.size()); }
  // Running sequences of the share of this one.
  int32_t num_running(const request::Sequence& sequence) const noexcept {
    const Share& share = share_of(sequence);
    return share.num_alive - static_cast<int32_t>(share.waiting.size());
  }

  // One pass over the waiting sequences in order: candidate() is the next one until it is taken or skipped.
  void begin_pass() noexcept;
  request::Sequence* candidate() const noexcept;
  void skip(const request::Sequence& candidate) noexcept;

 private:
  struct Share {
    std::string id;
    int64_t used = 0;       // tokens; a share that starts to wait gets at least the minimum of the others
    int32_t num_alive = 0;  // sequences, waiting or taken
    std::vector<request::Sequence*> waiting;  // parked ones last, by leader; others by class, preempted or not, due
    size_t num_skipped = 0;                   // in this pass
    double last_overdue = 0;                  // seconds: when one of its sequences became overdue
    request::Sequence* oldest = nullptr;      // by arrival, of those waiting and not parked; in find_overdue() only
  };

  Share& share_of(const request::Sequence& s) noexcept { return shares_[s.share]; }
  const Share& share_of(const request::Sequence& s) const noexcept { return shares_[s.share]; }
  int32_t find_or_make_share(const std::string& id);
  int64_t least_used() const noexcept;

  std::vector<Share> shares_;                 // those without sequences may be reused for another id
  std::vector<request::Sequence*> arrivals_;  // all waiting sequences: overdue, by class and arrival, then parked
  int32_t num_alive_ = 0;
  int64_t work_ = 0;  // tokens charged to all shares
};

}  // namespace pagoda::scheduler
