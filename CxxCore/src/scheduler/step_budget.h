// StepBudget: how many tokens a step may have so that it stays within a time, from how long recent steps took. For
// devices that somebody else waits for. Pure: no clock, no device; answers do not depend on it, as on no schedule.
#pragma once

#include <cstdint>

namespace pagoda::scheduler {

class StepBudget {
 public:
  // max_seconds 0: a step may take as long as it likes, and have max_tokens.
  StepBudget(double max_seconds, int32_t max_tokens) noexcept;

  int32_t max_tokens() const noexcept { return tokens_; }  // of the next step

  // A step of `num_tokens` tokens of `num_sequences` sequences took `seconds`. Those without a prompt say nothing:
  // their time goes into reading weights, and a hundred prompt tokens more would cost little.
  void note(int32_t num_tokens, int32_t num_sequences, double seconds) noexcept;

 private:
  double max_seconds_;
  int32_t limit_;                 // max_tokens of the constructor
  int32_t tokens_;                // now
  double seconds_per_token_ = 0;  // of steps with prompts, the newest counting half; 0 before the first
};

}  // namespace pagoda::scheduler
