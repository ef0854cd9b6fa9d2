// Drafter: proposes the tokens that follow a sequence. A draft never changes an answer: the model's own sample decides.
#pragma once

#include <cstdint>
#include <vector>

#include "request/sequence.h"

namespace pagoda::speculate {

class Drafter {
 public:
  virtual ~Drafter() = default;

  // Appends up to `max_drafts` tokens to `drafts`, the next one first; none if there is no good candidate.
  virtual void propose(const request::Sequence& sequence, int32_t max_drafts, std::vector<int32_t>& drafts) = 0;
};

}  // namespace pagoda::speculate
