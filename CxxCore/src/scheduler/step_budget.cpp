// Tokens of a step from its time: by the measured rate, at most twice as many as before.
#include "scheduler/step_budget.h"

#include <algorithm>

namespace pagoda::scheduler {
namespace {

constexpr int32_t kFirst = 64;  // nothing is known yet
// A step is never smaller: weights are read once whether 1 token or 32 are computed, so that less would only take
// longer in all. A multiple of it is a multiple of a recurrent block too.
constexpr int32_t kStep = 32;

}  // namespace

StepBudget::StepBudget(double max_seconds, int32_t max_tokens) noexcept
    : max_seconds_(max_seconds),
      limit_(max_tokens),
      tokens_(max_seconds > 0 ? std::min(kFirst, max_tokens) : max_tokens) {}

void StepBudget::note(int32_t num_tokens, int32_t num_sequences, double seconds) noexcept {
  if (max_seconds_ <= 0 || num_tokens <= num_sequences || !(seconds > 0)) return;
  const double each = seconds / num_tokens;
  seconds_per_token_ = seconds_per_token_ > 0 ? (seconds_per_token_ + each) / 2 : each;
  const double affordable = std::min(max_seconds_ / seconds_per_token_, 2.0 * tokens_);
  const int32_t whole = static_cast<int32_t>(std::min(affordable, static_cast<double>(limit_))) / kStep * kStep;
  tokens_ = std::min(limit_, std::max(whole, kStep));
}

}  // namespace pagoda::scheduler
