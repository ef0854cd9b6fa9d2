// Oracle: a drafter that knows the answers and is correct with a given probability, for models with random weights.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "speculate/drafter.h"

namespace pagoda::bench {

class Oracle final : public speculate::Drafter {
 public:
  explicit Oracle(double chance) : chance_(chance) {}

  // The prompt and the answer of the sequence with this id.
  void learn(uint64_t sequence_id, std::vector<int32_t> text) { texts_[sequence_id] = std::move(text); }

  void propose(const request::Sequence& sequence, int32_t max_drafts, std::vector<int32_t>& drafts) override {
    const auto found = texts_.find(sequence.id);
    if (found == texts_.end()) return;
    const std::vector<int32_t>& text = found->second;
    for (size_t i = 0; i < static_cast<size_t>(max_drafts) && sequence.tokens.size() + i < text.size(); ++i) {
      const int32_t token = text[sequence.tokens.size() + i];
      const bool is_right = static_cast<double>(rng_() >> 11) * 0x1p-53 < chance_;
      drafts.push_back(is_right ? token : (token == 0 ? 1 : 0));
    }
  }

 private:
  double chance_;
  std::mt19937_64 rng_{1};
  std::unordered_map<uint64_t, std::vector<int32_t>> texts_;
};

}  // namespace pagoda::bench
