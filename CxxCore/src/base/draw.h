// Draw: everything needed, besides the logits, to sample a token on a device, in the layout that kernels read.
#pragma once

#include <cstdint>

namespace pagoda {

// Only for rows that need no more than the top-k logits. All fields except the temperature are integers, so that every
// device computes the same result.
struct Draw {
  uint64_t top_p = ~uint64_t{0};  // in 2^-64
  uint64_t min_weight = 0;        // in 2^-40 of the most likely token's weight
  uint64_t random = 0;
  float temperature = 1.0f;
  uint32_t top_k = 0;  // 0: no token is requested, the logits are; 1: argmax
};
static_assert(sizeof(Draw) == 32);

}  // namespace pagoda
