// LogitBlocks: a row of logits in blocks of 256, and the highest of each, from one pass over the row. Selections then
// read only the blocks that matter: a row of 248,000 logits lies in no near cache, and most of it never matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::sampler {

// Weights are whole numbers: sums of them are exact in any order, so that every device that draws (Shaders/sample.metal
// has the same arithmetic) draws the same token from the same logits.
constexpr uint64_t kWeightOne = uint64_t{1} << 40;  // of the most likely token
constexpr float kHalfWeight = 0x1p20f;              // a weight is this many times its upper part, and its lower part

// e^x for x <= 0 to about 1e-7 of itself; 0 below -87, where floats end. In plain arithmetic, so that compilers make
// vectors of it; a product and the sum after it are statements of their own, which no compiler may make one of.
float weight_of(float x) noexcept;

// kWeightOne w, rounded down; both parts are below 2^20 but for the upper one of w = 1.
constexpr uint32_t upper_part(float w) noexcept { return static_cast<uint32_t>(static_cast<int32_t>(w * kHalfWeight)); }
constexpr uint32_t lower_part(float w) noexcept {
  const float scaled = w * kHalfWeight, upper = static_cast<float>(static_cast<int32_t>(scaled));
  return static_cast<uint32_t>(static_cast<int32_t>((scaled - upper) * kHalfWeight));
}
constexpr uint64_t whole_weight(float w) noexcept { return (uint64_t{upper_part(w)} << 20) + lower_part(w); }

class LogitBlocks {
 public:
  static constexpr size_t kBlock = 256;

  explicit LogitBlocks(size_t vocab_size);

  // Takes a row, which must stay until the next. False when a logit is NaN or infinite; minus infinity is allowed.
  bool survey(std::span<const float> logits) noexcept;

  float highest() const noexcept { return highest_; }
  int32_t first_highest() const noexcept;            // the lowest id among the highest
  float reached_by(size_t count) const;              // some number that `count` logits or more reach
  uint64_t sum_weights(float temperature) noexcept;  // of e^((logit - highest) / temperature)
  // Where the sum just made, in order of id, passes `target`, which is less than all of it.
  int32_t id_at(uint64_t target, float temperature) const noexcept;

  // Calls visit(id, logit) for the logits from `least` on, by ascending id.
  template <class Visit>
  void for_each_from(float least, Visit&& visit) const {
    for (size_t block = 0; block < block_highest_.size(); ++block) {
      if (block_highest_[block] < least) continue;
      for (size_t id = block * kBlock; id < end_of(block); ++id)
        if (logits_[id] >= least) visit(static_cast<int32_t>(id), logits_[id]);
    }
  }

 private:
  static constexpr float kImpossible = -__builtin_inff();
  size_t end_of(size_t block) const noexcept {
    return (block + 1) * kBlock < logits_.size() ? (block + 1) * kBlock : logits_.size();
  }
  // The weights of a block's logits; returns how many.
  size_t weigh_block(size_t block, float temperature, float* weights) const noexcept;

  std::span<const float> logits_;
  float highest_ = kImpossible;
  std::vector<float> block_highest_;
  mutable std::vector<float> scratch_;  // of selections among blocks
  std::vector<uint64_t> block_sums_;
};

}  // namespace pagoda::sampler
