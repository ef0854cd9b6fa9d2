// OwnerRows: rows whose logits the owners of requests change, or choose a token from. The owner gets a copy and answers
// in its own time; meanwhile the sequence is left out of the steps, as one whose mask is late, so no other waits for
// it. Thread rule: the engine's thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/active_request.h"
#include "sampler/sampler.h"

namespace pagoda::engine {

class OwnerRows {
 public:
  explicit OwnerRows(int32_t vocab_size) : vocab_size_(vocab_size) {}

  void begin(const ActiveRequest& request);  // allocates memory with the first request that needs it
  void forget(const ActiveRequest& request) noexcept { num_rows_ -= request.is_with_owner; }  // it ends

  // Gives the row to the owner. False if the owner has no part in the next token.
  bool hand_out(ActiveRequest& request, std::span<const float> logits);
  // The owner's answer: its choice of a token, if it made one (token_id >= 0). False if it is outdated.
  bool take_back(ActiveRequest& request, int32_t token_index, int32_t token_id) noexcept;
  int32_t num_rows() const noexcept { return num_rows_; }  // with their owners now

 private:
  int32_t vocab_size_;
  int32_t num_rows_ = 0;
  std::vector<float> shown_;  // [vocab] the row that an owner gets
};

// Makes the owner's choice, if there is one, the only token that can be sampled. Fails if the request excludes it.
Status apply_choice(ActiveRequest& request, sampler::SampleInput& input);

}  // namespace pagoda::engine
