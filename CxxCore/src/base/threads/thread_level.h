// ThreadLevel: how many threads of a pool work together, found from what they gain and what they cost.
// On a busy machine a worker loses its core in the middle of an index, and the caller waits for a time slice, a hundred
// times the round's length: two threads were eight times slower than one. Each round is therefore compared with an
// estimate of the same round on the next lower level. Gains and losses are summed as credit; when it is spent, the
// level drops. Higher levels are tried again after an interval that doubles with every attempt that fails, so that
// attempts cost about a percent. Times are passed in: the class reads no clock. Thread rule: one thread at a time.
#pragma once

#include <cstdint>

namespace pagoda {

class ThreadLevel {
 public:
  explicit ThreadLevel(int max_threads) noexcept : max_threads_(max_threads), threads_(max_threads) {}
  int threads() const noexcept { return threads_; }
  bool is_lowered() const noexcept { return threads_ < max_threads_; }

  // Nanoseconds that this level saved in a round. `own_ns`: CPU time in which the caller ran `num_own` of its
  // `num_indices` indices; CPU time, because an interrupted caller must not count as slow.
  int64_t saved_ns(int64_t own_ns, int64_t num_own, int64_t num_indices) const noexcept;
  // Adds nanoseconds saved, or lost by waiting (negative); lowers the level when the losses prevail.
  void add(int64_t saved_ns, int64_t now_ns) noexcept;
  // Raises a lowered level if it is time for an attempt.
  void try_raise(int64_t now_ns) noexcept;

 private:
  int lower() const noexcept { return threads_ * 3 / 4 > 1 ? threads_ * 3 / 4 : 1; }

  int max_threads_, threads_;
  int64_t credit_ns_ = 0;
  int64_t interval_ns_ = 0;  // between a drop and the next attempt
  bool was_raised_ = false;  // the last change was an attempt
  int64_t raised_at_ns_ = 0;
  int64_t next_attempt_ns_ = 0;
};

}  // namespace pagoda
