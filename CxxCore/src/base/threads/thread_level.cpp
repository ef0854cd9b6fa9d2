// ThreadLevel: a level lasts while its credit does.
#include "base/threads/thread_level.h"

#include <algorithm>

namespace pagoda {
namespace {

// With full credit, one interruption of 4 ms lowers the level; shorter ones, as every idle machine has, do not.
constexpr int64_t kMaxCreditNs = 2'000'000, kMaxDebtNs = 2'000'000;
constexpr int64_t kMinIntervalNs = 20'000'000, kMaxIntervalNs = 2'000'000'000;

}  // namespace

// A worker did (num_indices - num_own) / (threads - 1) indices on average; fewer workers would have done as many each.
int64_t ThreadLevel::saved_ns(int64_t own_ns, int64_t num_own, int64_t num_indices) const noexcept {
  if (num_own <= 0 || threads_ < 2) return 0;
  const double speedup = static_cast<double>(num_indices) / static_cast<double>(num_own);
  const double lower_speedup = 1 + (speedup - 1) * (lower() - 1) / (threads_ - 1);
  return static_cast<int64_t>(static_cast<double>(own_ns) * (speedup / lower_speedup - 1));
}

void ThreadLevel::add(int64_t saved_ns, int64_t now_ns) noexcept {
  credit_ns_ = std::min(credit_ns_ + saved_ns, kMaxCreditNs);
  if (credit_ns_ >= -kMaxDebtNs || threads_ == 1) return;
  const bool has_failed = was_raised_ && now_ns - raised_at_ns_ < interval_ns_;
  interval_ns_ = has_failed ? std::min(2 * interval_ns_, kMaxIntervalNs) : std::max(interval_ns_ / 2, kMinIntervalNs);
  threads_ = lower();
  credit_ns_ = 0;
  was_raised_ = false;
  next_attempt_ns_ = now_ns + interval_ns_;
}

void ThreadLevel::try_raise(int64_t now_ns) noexcept {
  if (!is_lowered() || now_ns < next_attempt_ns_) return;
  if (was_raised_) interval_ns_ = kMinIntervalNs;  // the previous attempt has lasted
  threads_ = std::min(threads_ + std::max(1, threads_ / 3), max_threads_);
  credit_ns_ = 0;
  was_raised_ = true;
  raised_at_ns_ = now_ns;
  next_attempt_ns_ = now_ns + interval_ns_;
}

}  // namespace pagoda
