// FairQueue: the waiting sequences, in the order in which they should run, and how much each share has used.
// Order: the more urgent class first (lower `priority`); then the share that has used least; then those that were
// preempted; then the shortest rest to read; then arrival. A share is what one client's requests have in common
// (Sequence::share_id): clients with work waiting get the same number of tokens each, however many requests they send.
// State: per share its tokens so far and its waiting sequences; nothing is allocated but by add().
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/sequence.h"

namespace pagoda::scheduler {

class FairQueue {
 public:
  // A new sequence, to wait. Changes nothing when it throws.
  void add(request::Sequence* sequence);
  void take(request::Sequence* sequence) noexcept;      // a waiting one: it runs
  void put_back(request::Sequence* sequence) noexcept;  // one taken before: it waits again
  void forget(request::Sequence* sequence) noexcept;    // waiting or taken: it is gone

  // `num_tokens` of the sequence are computed now, on account of its share.
  void charge(const request::Sequence& sequence, int64_t num_tokens) noexcept;
  bool precedes(const request::Sequence& a, const request::Sequence& b) const noexcept;

  // Of the most urgent class, the one that arrived first; null when none waits.
  request::Sequence* oldest() const noexcept { return arrivals_.empty() ? nullptr : arrivals_.front(); }
  const std::vector<request::Sequence*>& arrivals() const noexcept { return arrivals_; }
  int32_t num_waiting() const noexcept { return static_cast<int32_t>(arrivals_.size()); }

  // One pass over the waiting ones in their order: candidate() is the next, until it is taken or skipped.
  void begin_pass() noexcept;
  request::Sequence* candidate() const noexcept;
  void skip(const request::Sequence& candidate) noexcept;

 private:
  struct Share {
    std::string id;
    int64_t used = 0;       // tokens; of a share that begins to wait at least those of the one that has used least
    int32_t num_alive = 0;  // sequences, waiting or taken
    std::vector<request::Sequence*> waiting;  // by class, preempted or not, rest to read, arrival
    size_t num_skipped = 0;                   // in this pass
  };

  Share& share_of(const request::Sequence& s) noexcept { return shares_[s.share]; }
  const Share& share_of(const request::Sequence& s) const noexcept { return shares_[s.share]; }
  int32_t find_or_make_share(const std::string& id);
  int64_t least_used() const noexcept;

  std::vector<Share> shares_;                 // those without sequence may be given to another id
  std::vector<request::Sequence*> arrivals_;  // all that wait, by class and arrival
  int32_t num_alive_ = 0;
};

}  // namespace pagoda::scheduler
