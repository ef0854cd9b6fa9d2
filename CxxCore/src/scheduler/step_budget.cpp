// Tokens of a step from its time. Beside decodes by trying: more while steps stay within their time, fewer after two
// that did not. The time of a step cannot be told from a smaller one: the first tokens of a prompt beside decodes cost
// more than those after them, so that a rate learned from 8 tokens keeps steps small.
#include "scheduler/step_budget.h"

#include <algorithm>

namespace pagoda::scheduler {
namespace {

constexpr double kDecodeRatio = 1.9;  // of steps with prompts to steps without: 2, less what times vary
constexpr int32_t kGoodSteps = 2;     // before more is tried beside decodes
constexpr int32_t kRetrySteps = 96;   // before as many are tried again as took too long
constexpr int32_t kStrike = 8;        // steps within which a second one that takes too long makes steps smaller
constexpr int32_t kUnknown = 2;       // steps of kStep, while nothing is known yet
// A step is never smaller: weights are read once whether 1 token or 32 are computed, so that less would only take
// longer in all. A multiple of it is a multiple of a recurrent block too.
constexpr int32_t kStep = 32;
// The same of prompts beside decodes, however many those are: a prompt that got no token would wait until one of them
// ends.
constexpr int32_t kDecodeStep = 8;

// By how much steps beside decodes grow and shrink: a quarter.
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

// Steps without a prompt say nothing of the rate: their time goes into reading weights, and a hundred prompt tokens
// more would cost little.
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
  // More decode now than when a step without prompts was last seen: such a step would take longer by their tokens.
  const double num_more = std::max(0.0, num_decoding - tokens_of_decodes_);
  const double plain = seconds_of_decodes_ + num_more * seconds_per_token_;
  const double allowed = times_.max_decode_seconds > 0 ? times_.max_decode_seconds : kDecodeRatio * plain;
  strikes_ = seconds > allowed ? strikes_ + kStrike : std::max(0, strikes_ - 1);
  if (seconds > allowed && strikes_ <= kStrike) return;  // one now and then: something else ran
  if (seconds > allowed) {
    too_many_ = num_prompt_tokens;
    num_good_ = strikes_ = 0;
    beside_ = std::max(kDecodeStep, (num_prompt_tokens - part_of(num_prompt_tokens)) / kDecodeStep * kDecodeStep);
    return;
  }
  if (num_prompt_tokens <= beside_ - kDecodeStep) return;  // there were no more
  const int32_t next = std::min(limit_, beside_ + part_of(beside_));
  const bool is_retry = too_many_ > 0 && next >= too_many_ * 7 / 8;
  if (++num_good_ < (is_retry ? kRetrySteps : kGoodSteps)) return;
  if (is_retry) too_many_ = 0;
  num_good_ = 0;
  beside_ = next;
}

}  // namespace pagoda::scheduler
