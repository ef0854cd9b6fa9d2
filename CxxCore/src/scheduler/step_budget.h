// StepBudget: how many tokens a step may have to stay within a time limit, based on the times of recent steps. There
// are two reasons for a limit: other work waits for the device (such as the display), and decoding sequences wait for
// their next token while prompts are read in the same step. Pure: no clock, no device; answers do not depend on it, as
// they do not depend on any schedule.
#pragma once

#include <cstdint>

namespace pagoda::scheduler {

struct StepTimes {
  double max_seconds = 0;  // limit of every step; 0: none
  // Limit of a step in which sequences decode; 0: about twice the time of a step that only decodes; below 0: none.
  double max_decode_seconds = 0;
};

class StepBudget {
 public:
  StepBudget(const StepTimes& times, int32_t max_tokens) noexcept;

  // The most tokens of the next step, in which this many sequences decode. A few tokens are reserved for prompts
  // regardless of the times, unless the step is full.
  int32_t max_tokens(int32_t num_decoding = 0) const noexcept;

  // Records that a step of `num_tokens` tokens of `num_sequences` sequences, `num_decoding` of which decoded, took
  // `seconds`.
  void note(int32_t num_tokens, int32_t num_sequences, double seconds, int32_t num_decoding = 0) noexcept;

 private:
  void note_beside(int32_t num_prompt_tokens, int32_t num_decoding, double seconds) noexcept;

  StepTimes times_;
  int32_t limit_;                  // max_tokens of the constructor
  int32_t tokens_;                 // current limit if nothing decodes
  int32_t beside_;                 // current limit of prompt tokens next to decodes
  int32_t too_many_ = 0;           // this many took too long recently; 0: none
  int32_t strikes_ = 0;            // kStrike for a step that took too long, minus one for each later step that did not
  int32_t num_good_ = 0;           // steps since then, or since the last change, with all of beside_ within their time
  double seconds_per_token_ = 0;   // average of steps with prompts, the newest with weight 1/2; 0 before the first
  double seconds_of_decodes_ = 0;  // the same for steps without prompts
  double tokens_of_decodes_ = 0;   // of those steps
};

}  // namespace pagoda::scheduler
