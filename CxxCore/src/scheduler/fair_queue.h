// FairQueue: the waiting sequences, in the order in which they should run, and the tokens used by each share.
// Order: the more urgent class first (lower `priority`); then the share that has used the fewest tokens; then preempted
// sequences; then the fewest tokens left to read; then arrival. A share groups one client's requests
// (Sequence::share_id): clients with waiting work get the same number of tokens each, however many requests they send.
// State: per share its tokens so far and its waiting sequences; only add() allocates.
// Thread rule: the engine's thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "request/sequence.h"

namespace pagoda::scheduler {

class FairQueue {
 public:
  // Adds a new waiting sequence. Changes nothing if it throws.
  void add(request::Sequence* sequence);
  void take(request::Sequence* sequence) noexcept;      // a waiting sequence starts to run
  void put_back(request::Sequence* sequence) noexcept;  // a taken sequence waits again
  void forget(request::Sequence* sequence) noexcept;    // removes a waiting or taken sequence

  // `num_tokens` of the sequence are computed now and charged to its share.
  void charge(const request::Sequence& sequence, int64_t num_tokens) noexcept;
  bool precedes(const request::Sequence& a, const request::Sequence& b) const noexcept;

  // The first arrival of the most urgent class; null if none waits.
  request::Sequence* oldest() const noexcept { return arrivals_.empty() ? nullptr : arrivals_.front(); }
  const std::vector<request::Sequence*>& arrivals() const noexcept { return arrivals_; }
  int32_t num_waiting() const noexcept { return static_cast<int32_t>(arrivals_.size()); }

  // One pass over the waiting sequences in order: candidate() is the next one until it is taken or skipped.
  void begin_pass() noexcept;
  request::Sequence* candidate() const noexcept;
  void skip(const request::Sequence& candidate) noexcept;

 private:
  struct Share {
    std::string id;
    int64_t used = 0;       // tokens; a share that starts to wait gets at least the minimum of the others
    int32_t num_alive = 0;  // sequences, waiting or taken
    std::vector<request::Sequence*> waiting;  // by class, preempted or not, tokens left to read, arrival
    size_t num_skipped = 0;                   // in this pass
  };

  Share& share_of(const request::Sequence& s) noexcept { return shares_[s.share]; }
  const Share& share_of(const request::Sequence& s) const noexcept { return shares_[s.share]; }
  int32_t find_or_make_share(const std::string& id);
  int64_t least_used() const noexcept;

  std::vector<Share> shares_;                 // those without sequences may be reused for another id
  std::vector<request::Sequence*> arrivals_;  // all waiting sequences, by class and arrival
  int32_t num_alive_ = 0;
};

}  // namespace pagoda::scheduler
