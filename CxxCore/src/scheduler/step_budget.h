// StepBudget: how many tokens a step may have so that it stays within a time, from how long recent steps took. Two
// reasons for a limit: other work waits for the device (the screen, where it draws that too), and the sequences that
// decode wait for their next token while prompts are read beside them. Pure: no clock, no device; answers do not depend
// on it, as on no schedule.
#pragma once

#include <cstdint>

namespace pagoda::scheduler {

struct StepTimes {
  double max_seconds = 0;  // of every step; 0: as long as it likes
  // Of a step in which sequences decode; 0: at most about twice a step in which nothing else is done, below 0: as long
  // as it likes.
  double max_decode_seconds = 0;
};

class StepBudget {
 public:
  StepBudget(const StepTimes& times, int32_t max_tokens) noexcept;

  // Of the next step, in which so many sequences decode. A few are left for prompts beside them, whatever the times
  // say, unless the step is full.
  int32_t max_tokens(int32_t num_decoding = 0) const noexcept;

  // A step of `num_tokens` tokens of `num_sequences` sequences, `num_decoding` of which decoded, took `seconds`.
  void note(int32_t num_tokens, int32_t num_sequences, double seconds, int32_t num_decoding = 0) noexcept;

 private:
  void note_beside(int32_t num_prompt_tokens, int32_t num_decoding, double seconds) noexcept;

  StepTimes times_;
  int32_t limit_;                  // max_tokens of the constructor
  int32_t tokens_;                 // now, when nothing decodes
  int32_t beside_;                 // now, of prompts beside sequences that decode
  int32_t too_many_ = 0;           // so many of them took too long lately; 0: none
  int32_t strikes_ = 0;            // kStrike for a step that took too long, less one for each since that did not
  int32_t num_good_ = 0;           // steps since then or the last change with all of beside_ within their time
  double seconds_per_token_ = 0;   // of steps with prompts, the newest counting half; 0 before the first
  double seconds_of_decodes_ = 0;  // of steps without prompts, likewise
  double tokens_of_decodes_ = 0;   // of those steps
};

}  // namespace pagoda::scheduler
