// ListedTokens: some tokens of a row with their weights, and the selection of those that reach a mass together. Arrays
// by field, so that compilers vectorise the passes: a selection with swaps mispredicts a branch for every other token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampler/logit_blocks.h"

namespace pagoda::sampler {

class ListedTokens {
 public:
  explicit ListedTokens(size_t vocab_size);

  void clear() noexcept;
  void add(int32_t id, float logit);                             // by ascending id; no NaN
  uint64_t weigh(const LogitBlocks& logits, float temperature);  // the weight of all listed tokens

  // Calls visit(logit, id, weight), by ascending id, for the most likely tokens until their mass reaches `wanted`,
  // which is at most that of all: a token stays if those before it weigh less. Equal logits are ordered by id.
  template <class Visit>
  void keep(uint64_t wanted, Visit&& visit) const {
    const Last last = find_last(wanted);
    uint64_t left = last.mass;
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (logits_[i] < last.logit || (logits_[i] == last.logit && left == 0)) continue;
      if (logits_[i] == last.logit) left -= weights_[i] < left ? weights_[i] : left;
      visit(logits_[i], ids_[i], weights_[i]);
    }
  }

 private:
  struct Last {
    float logit;    // of the least likely token that stays
    uint64_t mass;  // what the tokens of that logit must reach
  };
  Last find_last(uint64_t wanted) const noexcept;

  std::vector<int32_t> ids_;
  std::vector<float> logits_;
  std::vector<uint64_t> weights_;
};

}  // namespace pagoda::sampler
