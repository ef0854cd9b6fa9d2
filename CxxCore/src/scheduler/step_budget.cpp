// Tokens of a step from its time: a step in which sequences only decode, and so much more for each token of a prompt.
#include "scheduler/step_budget.h"

#include <algorithm>

namespace pagoda::scheduler {
namespace {

constexpr double kDecodeRatio = 1.8;  // of steps with prompts to steps without: 2, less what the rate varies
constexpr int32_t kUnknown = 2;       // steps of kStep, while nothing is known yet
// A step is never smaller: weights are read once whether 1 token or 32 are computed, so that less would only take
// longer in all. A multiple of it is a multiple of a recurrent block too.
constexpr int32_t kStep = 32;
// The same of prompts beside decodes, however many those are: a prompt that got no token would wait until one of them
// ends.
constexpr int32_t kDecodeStep = 8;

// A step with prompts takes at least this much of its time longer than one without: clocks are not exact.
constexpr double kLeastShare = 0.1;

double blend(double before, double now) noexcept { return before > 0 ? (before + now) / 2 : now; }

}  // namespace

StepBudget::StepBudget(const StepTimes& times, int32_t max_tokens) noexcept
    : times_(times),
      limit_(max_tokens),
      tokens_(times.max_seconds > 0 ? std::min(kUnknown * kStep, max_tokens) : max_tokens) {}

int32_t StepBudget::max_tokens(int32_t num_decoding) const noexcept {
  if (num_decoding == 0 || times_.max_decode_seconds < 0) return tokens_;
  // More decode now than when a step without prompts was last seen: such a step would take longer by their tokens.
  const int32_t least = std::min(limit_, num_decoding + kDecodeStep);
  if (seconds_per_token_ == 0) return std::max(std::min(tokens_, kStep), least);
  if (seconds_of_decodes_ == 0 && times_.max_decode_seconds == 0) return std::max(std::min(tokens_, kStep), least);
  // More decode now than when a step without prompts was last seen: such a step would take longer by their tokens.
  const double num_more = std::max(0.0, num_decoding - tokens_of_decodes_);
  const double plain = seconds_of_decodes_ > 0 ? seconds_of_decodes_ + num_more * seconds_per_added_token_ : 0;
  const double seconds = times_.max_decode_seconds > 0 ? times_.max_decode_seconds : kDecodeRatio * plain;
  const double affordable =
      plain > 0 ? num_decoding + (seconds - plain) / seconds_per_added_token_ : seconds / seconds_per_token_;
  const int32_t whole =
      static_cast<int32_t>(std::clamp(affordable, 0.0, static_cast<double>(tokens_))) / kDecodeStep * kDecodeStep;
  return std::max(whole, least);
}

// Steps without a prompt say nothing of the rate: their time goes into reading weights, and a hundred prompt tokens
// more would cost little.
void StepBudget::note(int32_t num_tokens, int32_t num_sequences, double seconds) noexcept {
  if (num_tokens <= 0 || !(seconds > 0)) return;
  if (num_tokens <= num_sequences) {
    seconds_of_decodes_ = blend(seconds_of_decodes_, seconds);
    tokens_of_decodes_ = blend(tokens_of_decodes_, num_tokens);
    return;
  }
  seconds_per_token_ = blend(seconds_per_token_, seconds / num_tokens);
  // By the rate of whole steps, small ones would look dear, because each reads all weights, and would stay small.
  const double added = std::max(seconds - seconds_of_decodes_, kLeastShare * seconds);
  seconds_per_added_token_ = blend(seconds_per_added_token_, added / std::max(1.0, num_tokens - tokens_of_decodes_));
  if (times_.max_seconds <= 0) return;
  const double affordable = std::min(times_.max_seconds / seconds_per_token_, 2.0 * tokens_);
  const int32_t whole = static_cast<int32_t>(std::min(affordable, static_cast<double>(limit_))) / kStep * kStep;
  tokens_ = std::min(limit_, std::max(whole, kStep));
}

}  // namespace pagoda::scheduler
