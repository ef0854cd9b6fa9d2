// Finds how many tokens a step can have within its time limit. For steps with decodes it does so by trial: more tokens
// while steps stay within the limit, fewer after two steps that did not. The time of a step cannot be extrapolated from
// a smaller one: the first prompt tokens next to decodes cost more than the following ones, so a rate learned from 8
// tokens would keep steps small.
#include "scheduler/step_budget.h"

#include <algorithm>

namespace pagoda::scheduler {
namespace {

constexpr double kDecodeRatio = 1.9;  // time of steps with prompts to steps without: 2, minus a margin
constexpr int32_t kGoodSteps = 2;     // before more prompt tokens are tried next to decodes
constexpr int32_t kRetrySteps = 96;   // before retrying a number of tokens that took too long
constexpr int32_t kStrike = 8;        // steps within which a second slow one reduces the number of tokens
constexpr int32_t kUnknown = 2;       // multiples of kStep, while nothing is measured yet
// The smallest step in tokens: weights are read once whether 1 token or 32 are computed, so smaller steps would only
// take longer in total. A multiple of it is also a multiple of a recurrent block.
constexpr int32_t kStep = 32;
// The fewest prompt tokens next to any number of decodes: a prompt without tokens would wait until a decode ends.
constexpr int32_t kDecodeStep = 8;

// Steps with decodes grow and shrink by a quarter.
int32_t part_of(int32_t tokens) noexcept { return std::max(kDecodeStep, tokens / 4 / kDecodeStep * kDecodeStep); }

double blend(double before, double now) noexcept { return before > 0 ? (before + now) / 2 : now; }

}  // namespace

StepBudget::StepBudget(const StepTimes& times, int32_t max_tokens) noexcept
    : times_(times),
      limit_(max_tokens),
      tokens_(times.max_seconds > 0 ? std::min(kUnknown * kStep, max_tokens) : max_tokens),
      beside_(std::min(kStep - kDecodeStep, max_tokens)) {}

int32_t StepBudget::max_tokens(int32_t num_decoding) const noexcept {
  if (num_decoding == 0 || times_.max_decode_seconds < 0) return tokens_;
  const int32_t least = std::min(limit_, num_decoding + kDecodeStep);
  return std::max(std::min(tokens_, num_decoding + beside_), least);
}

// Steps without a prompt do not determine the rate: their time is spent reading weights, and a hundred more prompt
// tokens would cost little.
void StepBudget::note(int32_t num_tokens, int32_t num_sequences, double seconds, int32_t num_decoding) noexcept {
  if (num_tokens <= 0 || !(seconds > 0)) return;
  if (num_tokens <= num_sequences) {
    seconds_of_decodes_ = blend(seconds_of_decodes_, seconds);
    tokens_of_decodes_ = blend(tokens_of_decodes_, num_tokens);
    return;
  }
  seconds_per_token_ = blend(seconds_per_token_, seconds / num_tokens);
  if (num_decoding > 0) note_beside(num_tokens - num_decoding, num_decoding, seconds);
  if (times_.max_seconds <= 0) return;
  const double affordable = std::min(times_.max_seconds / seconds_per_token_, 2.0 * tokens_);
  const int32_t whole = static_cast<int32_t>(std::min(affordable, static_cast<double>(limit_))) / kStep * kStep;
  tokens_ = std::min(limit_, std::max(whole, kStep));
}

void StepBudget::note_beside(int32_t num_prompt_tokens, int32_t num_decoding, double seconds) noexcept {
  if (times_.max_decode_seconds == 0 && seconds_of_decodes_ == 0) return;  // nothing to compare with
  // More sequences decode now than in the last step without prompts, which would take longer by their tokens.
  const double num_more = std::max(0.0, num_decoding - tokens_of_decodes_);
  const double plain = seconds_of_decodes_ + num_more * seconds_per_token_;
  const double allowed = times_.max_decode_seconds > 0 ? times_.max_decode_seconds : kDecodeRatio * plain;
  strikes_ = seconds > allowed ? strikes_ + kStrike : std::max(0, strikes_ - 1);
  if (seconds > allowed && strikes_ <= kStrike) return;  // a single one: something else ran on the machine
  if (seconds > allowed) {
    too_many_ = num_prompt_tokens;
    num_good_ = strikes_ = 0;
    beside_ = std::max(kDecodeStep, (num_prompt_tokens - part_of(num_prompt_tokens)) / kDecodeStep * kDecodeStep);
    return;
  }
  if (num_prompt_tokens <= beside_ - kDecodeStep) return;  // there were no more prompt tokens
  const int32_t next = std::min(limit_, beside_ + part_of(beside_));
  const bool is_retry = too_many_ > 0 && next >= too_many_ * 7 / 8;
  if (++num_good_ < (is_retry ? kRetrySteps : kGoodSteps)) return;
  if (is_retry) too_many_ = 0;
  num_good_ = 0;
  beside_ = next;
}

}  // namespace pagoda::scheduler
