// DRY ("don't repeat yourself"): penalises tokens that would continue a repetition of earlier text, by its length.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pagoda/sampling_params.h"

namespace pagoda::sampler {

// Memory of one request, enough for the longest history, so that sampling allocates nothing.
struct DryScratch {
  struct Repeat {
    int32_t token_id;  // continues the repetition
    int32_t length;    // tokens before it that are repeated
  };
  DryScratch(std::shared_ptr<const std::vector<int32_t>> breakers, size_t max_tokens);

  std::shared_ptr<const std::vector<int32_t>> breaker_ids;  // ascending
  std::vector<int32_t> lengths;
  std::vector<Repeat> repeats;
};

// Subtracts multiplier * base ^ (length - allowed_length) from the logit of each token that followed an earlier
// occurrence of the history's last `length` tokens, if that is at least allowed_length. Of several occurrences the
// longest counts. A repetition does not extend across a breaker. Linear in the length of the history.
void apply_dry(const DryParams& params, std::span<const int32_t> history, DryScratch& scratch, std::span<float> logits);

}  // namespace pagoda::sampler
