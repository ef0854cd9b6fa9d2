// Draw: everything needed, besides the logits, to sample a token on a device, in the layout that kernels read.
#pragma once

#include <cstdint>

namespace pagoda {

constexpr int32_t kMaxTopLogprobs = 20;

// All fields except the temperature are integers, so that every
// device computes the same result.
struct Draw {
  uint64_t top_p = ~uint64_t{0};  // in 2^-64
  uint64_t min_weight = 0;        // in 2^-40 of the most likely token's weight
  uint64_t random = 0;
  float temperature = 1.0f;
  uint32_t top_k = 0;                      // 0: no token is requested, the logits are; 1: argmax
  uint32_t first_edit = 0, num_edits = 0;  // of the step's list
  uint32_t mask = 0;                       // 1 + the index among the step's masks; 0: every token is allowed
  uint32_t is_whole = 0;                   // 1: top_k is no limit; a device may still refuse the row
  uint32_t num_logprobs = 0;               // most likely tokens that are scored, 1 at least; 0: no log probabilities
  uint32_t reserved = 0;

  bool has_nucleus() const noexcept { return is_whole > 0 && top_p != ~uint64_t{0}; }
  bool is_argmax() const noexcept { return top_k <= 1 && num_edits == 0 && mask == 0 && num_logprobs == 0; }
};
static_assert(sizeof(Draw) == 56);

// What log probabilities need of a row, in the layout that kernels write.
struct RowScore {
  uint64_t total = 0;                   // of all weights at temperature 1, in 2^-40 of the most likely token's
  float highest = 0.0f, chosen = 0.0f;  // logits of the most likely token and of the row's token
  uint32_t ids[kMaxTopLogprobs] = {};   // of the most likely tokens, in any order
  float logits[kMaxTopLogprobs] = {};
};
static_assert(sizeof(RowScore) == 176);

// A change of one logit before a draw: + bias, then / or * repetition, then - penalty. No row has two of one id.
struct LogitEdit {
  uint32_t id = 0;
  float bias = 0.0f;
  float repetition = 1.0f;  // 0: the token is removed
  float penalty = 0.0f;
};
static_assert(sizeof(LogitEdit) == 16);

constexpr int64_t kEditsPerRow = 1024;  // room for so many on average over the rows of a step

constexpr int64_t mask_words(int64_t vocab) noexcept { return (vocab + 63) / 64; }

}  // namespace pagoda
