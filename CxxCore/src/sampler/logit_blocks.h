// LogitBlocks: a row of logits in blocks of 256 with each block's maximum, from one pass over the row. Selections then
// read only the blocks they need: a row of 248,000 logits exceeds L1 and L2, and most of it never matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::sampler {

// Weights are integers: their sums are exact in any order, so that every device that samples (Shaders/sample.metal uses
// the same arithmetic) picks the same token from the same logits.
constexpr uint64_t kWeightOne = uint64_t{1} << 40;  // weight of the most likely token
constexpr float kHalfWeight = 0x1p20f;              // weight = upper * kHalfWeight + lower

// e^x for x <= 0 with a relative error of about 1e-7; 0 below -87, where floats underflow. Plain arithmetic, so that
// compilers vectorise it; each product and the following sum are separate statements, so that none are fused.
float weight_of(float x) noexcept;

// kWeightOne * w, rounded down; both parts are below 2^20, except the upper one of w = 1.
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

  // Takes a row, which must outlive its use here. Returns false if a logit is NaN or +infinity; -infinity is allowed.
  bool survey(std::span<const float> logits) noexcept;
  size_t num_blocks() const noexcept { return blocks_.size(); }
  size_t size_of(size_t block) const noexcept { return block + 1 < blocks_.size() ? kBlock : last_size_; }
  const float* block(size_t block) const noexcept { return blocks_[block]; }
  // Takes other logits for one block, as many as before. settle() follows the last one.
  void replace(size_t block, const float* logits) noexcept;
  void settle() noexcept;

  float highest() const noexcept { return highest_; }
  int32_t first_highest() const noexcept;  // the lowest id among equal maxima
  float reached_by(size_t count) const;    // a threshold that at least `count` logits reach
  float reached_in_most_blocks() const;    // a threshold that more than half of the blocks reach; finite
  // The whole weights of some logits.
  void weigh(std::span<const float> logits, float temperature, uint64_t* weights) const noexcept;
  uint64_t sum_weights(float temperature) noexcept;  // sum of e^((logit - highest) / temperature)
  struct Bounds {
    uint64_t least, most;
  };
  uint64_t sum_of_blocks_from(float least) const noexcept;  // of the last sum_weights(): blocks with a logit >= `least`
  // The id at which the running sum of the weights of the last sum_weights() exceeds `target`, which is below the
  // total.
  int32_t id_at(uint64_t target, float temperature) const noexcept;

  // Calls visit(id, logit) for all logits >= `least`, by ascending id.
  template <class Visit>
  void for_each_from(float least, Visit&& visit) const {
    for (size_t block = 0; block < blocks_.size(); ++block) visit_block(block, least, visit);
  }

  // The same, and bounds of the sum of the weights of the other logits, in less than half the time of their weights.
  // One pass: rows in turn do not stay in a cache, so that another one would read this row again from far away.
  template <class Visit>
  Bounds split_at(float least, float temperature, Visit&& visit) const {
    double below = 0;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      visit_block(block, least, visit);
      below += sum_block_below(block, least, temperature);
    }
    return bounds_of(below);
  }

 private:
  static constexpr float kImpossible = -__builtin_inff();
  template <class Visit>
  void visit_block(size_t block, float least, Visit& visit) const {
    if (block_highest_[block] < least) return;
    uint16_t found[kBlock];
    const size_t count = find_from(block, least, found);
    for (size_t i = 0; i < count; ++i) visit(static_cast<int32_t>(block * kBlock + found[i]), blocks_[block][found[i]]);
  }
  // Within an error that bounds_of allows for, in units of the most likely token's weight.
  double sum_block_below(size_t block, float least, float temperature) const noexcept;
  Bounds bounds_of(double sum) const noexcept;
  // Lists the indices in a block of the logits >= `least`; returns their number.
  size_t find_from(size_t block, float least, uint16_t* found) const noexcept;
  bool has_weight(size_t block, float temperature) const noexcept {
    constexpr float kWeightless = -28.0f;  // kWeightOne times e^-28 is less than 1
    return (block_highest_[block] - highest_) / temperature >= kWeightless;
  }
  uint64_t sum_block_weights(size_t block, float temperature) const noexcept;
  // Fills in the weights of a block's logits; returns their number.
  size_t weigh_block(size_t block, float temperature, float* weights) const noexcept;

  size_t last_size_ = 0;              // logits of the last block
  std::vector<const float*> blocks_;  // the logits of each block; kBlock, except in the last one
  float highest_ = kImpossible;
  std::vector<float> block_highest_;
  mutable std::vector<float> scratch_;  // for selections among blocks
  std::vector<uint64_t> block_sums_;
};

}  // namespace pagoda::sampler
