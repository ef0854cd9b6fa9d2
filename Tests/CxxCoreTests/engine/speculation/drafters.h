// TestDrafter: drafts with a given pattern, derived from the answers of each request.
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "device/op_args.h"
#include "speculate/drafter.h"
#include "speculate/policy.h"

namespace pagoda::test {

enum class Habit : uint8_t {
  oracle,  // always right
  liar,    // never
  border,  // wrong at the 15th, the 16th and the 1st row of a block of 16
  random,  // any number of drafts, some wrong
};

// The most drafts of a sequence in a step.
inline int32_t most_drafts(bool has_state) { return has_state ? device::kMaxDrafts : speculate::kMaxPositions; }

inline Habit any_habit(uint64_t random) { return static_cast<Habit>(random % 4); }

class TestDrafter final : public speculate::Drafter {
 public:
  TestDrafter(Habit habit, uint64_t seed) : habit_(habit), rng_(seed) {}

  void expect(uint64_t id, const std::vector<int32_t>& prompt, const std::vector<int32_t>& answer) {
    std::vector<int32_t>& text = texts_[id];
    text = prompt;
    text.insert(text.end(), answer.begin(), answer.end());
  }

  void propose(const request::Sequence& sequence, int32_t max_drafts, std::vector<int32_t>& drafts) override {
    const std::vector<int32_t>& text = texts_[sequence.id];
    const int32_t count =
        habit_ == Habit::random ? static_cast<int32_t>(rng_() % (speculate::kMaxPositions + 1)) : max_drafts;
    for (int32_t i = 0; i < std::min(count, max_drafts); ++i) {
      const size_t position = sequence.tokens.size() + static_cast<size_t>(i);
      const int32_t right = position < text.size() ? text[position] : 0;
      drafts.push_back(is_wrong(position) ? (right == 1 ? 2 : 1) : right);
    }
  }

 private:
  bool is_wrong(size_t position) {
    if (habit_ == Habit::border) return position % 16 >= 14 || position % 16 == 0;
    return habit_ == Habit::liar || (habit_ == Habit::random && rng_() % 4 == 0);
  }

  Habit habit_;
  std::mt19937_64 rng_;
  std::unordered_map<uint64_t, std::vector<int32_t>> texts_;
};

}  // namespace pagoda::test
